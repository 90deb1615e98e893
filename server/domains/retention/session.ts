/** The settings of sessions that purge: how long they wait for locks that others hold. */
export const SESSION = { name: 'baton-retention', lockTimeoutMs: 5_000 };
