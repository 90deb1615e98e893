import type { Pool, PoolClient } from 'pg';

/** How long a statement holds its numbers, in seconds. */
const HELD_S = 0.7;

/**
 * Draws numbers in a transaction that shows its rows only after most of a second, and calls `act` meanwhile. Returns once
 * both have ended.
 */
export async function whileHeld(
  pool: Pool,
  hold: (client: PoolClient) => Promise<unknown>,
  act: () => Promise<unknown>,
): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await hold(client);
    // Sent as one, so that the numbers are shown regardless of what `act` does.
    const shown = client.query(`SELECT pg_sleep(${HELD_S}); COMMIT`);
    const acted = act();
    await Promise.all([shown, acted]);
  } finally {
    client.release();
  }
}

/** Writes the end of a run to the usage once more, with a new number. */
export async function repeatEnd(db: Pick<PoolClient, 'query'>, runId: string): Promise<void> {
  const columns =
    'tenant_id, project_id, workflow_id, action, quantity, microcredits, attempts, created_at, step_type, subject, outcome, started_by';
  const { rowCount } = await db.query(
    `INSERT INTO run_usage (id, ${columns}) SELECT gen_random_uuid(), ${columns} FROM run_usage
     WHERE action = 'run_ended' AND attempts->0->>0 = $1 LIMIT 1`,
    [runId],
  );
  if (rowCount !== 1) throw new Error(`run ${runId} has not ended`);
}
