/** The settings of the database sessions that purge, with the time for which they wait for locks of other sessions. */
export const SESSION = { name: 'baton-retention', lockTimeoutMs: 5_000 };
