import type { ClientBase } from 'pg';

/**
 * The lock that allows one pass at a time across all processes. It differs from the locks of migrations, of the leader
 * and of partitions.
 */
const RETENTION_LOCK = 4_216_036;

/** Takes the lock of a pass until the session ends; returns false if another pass has it. */
export async function tryRetentionLock(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [
    RETENTION_LOCK,
  ]);
  return rows[0]?.locked === true;
}

/** Makes the space of deleted rows reusable, slowly, so that other work is not disturbed. */
export async function vacuumRuns(client: ClientBase): Promise<void> {
  await client.query('SET vacuum_cost_delay = 2');
  await client.query('VACUUM runs, human_tasks, run_search_values');
}
