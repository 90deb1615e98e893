/** Of the sessions that sweep: what PostgreSQL is told, and how long they wait for whoever holds what they would take. */
export const SESSION = { name: 'baton-retention', lockTimeoutMs: 5_000 };
