/** What PostgreSQL is told of sessions that count for long. */
export const SESSION = 'baton-analytics';
