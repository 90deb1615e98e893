import type { Pool } from 'pg';
import { isId } from '../../../platform/ids.ts';
import type { RunRow } from '../store.ts';
import { FAILURE_HANDLER_TRIGGER } from '../triggers/failure.ts';
import { handlerRunId } from '../triggers/handler-run.ts';

type RunLink = { run_id: string; workflow_id: string };
/** The project of both runs: a failure is handled in the project of the failed run. */
type Place = { tenantId: string; projectId: string };

/** Returns the run that handles the failure of a run; null if none has started. */
export async function findHandlerRun(pool: Pool, place: Place, run: RunRow): Promise<RunLink | null> {
  if (run.status !== 'failed' || run.ended_at === null || run.version < 0) return null;
  const found = await findLinked(pool, place, handlerRunId({ runId: run.id, endedAt: run.ended_at }));
  return found && { run_id: found.id, workflow_id: found.workflow_id };
}

/**
 * Returns the failed run that a run handles; null for any other run. Anyone may start a run with this trigger and name
 * a run in its input, so the link counts only if the id of the handler run is derived from the failed run.
 */
export async function findHandledRun(pool: Pool, place: Place, run: RunRow): Promise<RunLink | null> {
  if (run.trigger_type !== FAILURE_HANDLER_TRIGGER) return null;
  const { rows } = await pool.query<{ failed: string | null }>(
    `SELECT data->'input'->'failed_run'->>'run_id' AS failed FROM run_events
      WHERE run_id = $1 AND event_type = 'run_started' ORDER BY seq LIMIT 1`,
    [run.id],
  );
  const id = rows[0]?.failed ?? '';
  const failed = isId(id) ? await findLinked(pool, place, id) : null;
  if (failed === null || failed.ended_at === null) return null;
  const handles = handlerRunId({ runId: failed.id, endedAt: failed.ended_at }) === run.id;
  return handles ? { run_id: failed.id, workflow_id: failed.workflow_id } : null;
}

async function findLinked(pool: Pool, { tenantId, projectId }: Place, runId: string) {
  const { rows } = await pool.query<{ id: string; workflow_id: string; ended_at: Date | null }>(
    'SELECT id, workflow_id, ended_at FROM runs WHERE id = $1 AND tenant_id = $2 AND project_id = $3',
    [runId, tenantId, projectId],
  );
  return rows[0] ?? null;
}
