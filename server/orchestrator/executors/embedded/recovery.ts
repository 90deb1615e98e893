import type { Pool } from 'pg';
import type { Runtime } from './runtime.ts';

const PAGE = 500;

/** What must be known before the first command: how many runs of each tenant have not ended. One index-only scan. */
export async function countActiveRuns(pool: Pool): Promise<Map<string, number>> {
  const { rows } = await pool.query<{ tenant_id: string; count: number }>(
    'SELECT tenant_id, count(*)::int AS count FROM runs WHERE ended_at IS NULL GROUP BY tenant_id',
  );
  return new Map(rows.map(({ tenant_id, count }) => [tenant_id, count]));
}

/**
 * Takes up the runs that had not ended (engine.md, Recovery): first the timers of those that only wait, which stay in
 * the log, then the others, newest first, folded page by page. Stops when `signal` aborts.
 */
export async function recoverRuns(pool: Pool, runtime: Runtime, signal: AbortSignal): Promise<{ recovered: number }> {
  await setTimers(pool, runtime, signal);
  let recovered = 0;
  let before: string | null = null;
  for (;;) {
    const page: { id: string }[] = (
      await pool.query<{ id: string }>(
        `SELECT id FROM runs
         WHERE ended_at IS NULL AND orchestration_phase NOT IN ('blocked', 'paused') AND ($1::uuid IS NULL OR id < $1)
         ORDER BY id DESC LIMIT ${PAGE}`,
        [before],
      )
    ).rows;
    if (signal.aborted || page.length === 0) return { recovered };
    await Promise.all(page.map(({ id }) => runtime.recover(id)));
    recovered += page.length;
    before = page.at(-1)?.id ?? null;
  }
}

/** A blocked run is an index entry: its id and when its next human task times out. */
async function setTimers(pool: Pool, runtime: Runtime, signal: AbortSignal): Promise<void> {
  const { rows } = await pool.query<{ id: string; next_timer_at: Date }>(
    `SELECT id, next_timer_at FROM runs
     WHERE ended_at IS NULL AND next_timer_at IS NOT NULL AND orchestration_phase = 'blocked'`,
  );
  if (signal.aborted) return;
  for (const { id, next_timer_at } of rows) runtime.setWake(id, next_timer_at.getTime());
}
