/** The PostgreSQL settings of sessions that count for a long time. */
export const SESSION = 'baton-analytics';
