import type { Pool } from 'pg';
import type { RunStatus } from '../../../orchestrator/core/index.ts';
import type { RunRow } from '../store.ts';

type Place = { tenantId: string; projectId: string };
export type RerunOf = { run_id: string; workflow_id: string; from_step: string | null };
export type Rerun = { run_id: string; workflow_id: string; status: RunStatus; started_at: Date };

/** The maximum number of reruns that the page of a run links to, the newest ones. */
const MAX_RERUNS = 20;

/**
 * Returns the run that a run repeats or continues. Returns null if it is not a rerun, or if the original run was
 * deleted.
 */
export async function findOriginal(pool: Pool, { tenantId, projectId }: Place, run: RunRow): Promise<RerunOf | null> {
  if (run.rerun_of === null) return null;
  const { rows } = await pool.query<RerunOf>(
    `SELECT o.id AS run_id, o.workflow_id,
            (SELECT e.data->'rerun_of'->>'from_step' FROM run_events e
              WHERE e.run_id = $1 AND e.event_type = 'run_started' ORDER BY e.seq LIMIT 1) AS from_step
       FROM runs o WHERE o.id = $2 AND o.tenant_id = $3 AND o.project_id = $4`,
    [run.id, run.rerun_of, tenantId, projectId],
  );
  return rows[0] ?? null;
}

/** Returns the newest runs that repeat or continue a run. */
export async function listReruns(pool: Pool, { tenantId, projectId }: Place, runId: string): Promise<Rerun[]> {
  const { rows } = await pool.query<Rerun>(
    `SELECT id AS run_id, workflow_id, status, started_at FROM runs
      WHERE rerun_of = $1 AND tenant_id = $2 AND project_id = $3
      ORDER BY started_at DESC, id DESC LIMIT ${MAX_RERUNS}`,
    [runId, tenantId, projectId],
  );
  return rows;
}
