/** The PostgreSQL settings of sessions that run long counts. */
export const SESSION = 'baton-analytics';
