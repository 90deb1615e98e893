import type { Pool } from 'pg';
import { statusesFor } from './actions.ts';
import type { StopRow } from './store.ts';

/** A run that waits for its stop, or for the run that repeats it. */
export type Target = {
  runId: string;
  projectId: string;
  workflowId: string;
  /** The authored steps that have not ended: how many events its stop is going to write, about. */
  open: number;
  attempts: number;
  /** The id of the run that repeats it; null for a stop. */
  newRunId: string | null;
  /** The step that failed it. */
  failedStep: string | null;
};

export type TargetOutcome = {
  runId: string;
  /** `waiting`: it is tried again. `stopped` also stands for the start of the run that repeats it. */
  state: 'waiting' | 'stopped' | 'ended' | 'failed';
  /** Why it failed. */
  error?: string;
};

/** Returns runs that wait for their stop, at most `limit`: those that have failed last. */
export async function listTargets(pool: Pool, { id, tenantId, action }: StopRow, limit: number): Promise<Target[]> {
  const { rows } = await pool.query<Target>(
    `SELECT t.run_id AS "runId", r.project_id AS "projectId", r.workflow_id AS "workflowId", t.attempts, t.new_run_id AS "newRunId",
            r.error->>'step_id' AS "failedStep",
            greatest(r.steps_total - r.steps_done, 1) AS open
       FROM run_stop_targets t JOIN runs r ON r.id = t.run_id AND r.tenant_id = $2
      WHERE t.stop_id = $1 AND t.state = 'waiting' AND r.status = ANY($4)
      ORDER BY t.attempts, t.run_id LIMIT $3`,
    [id, tenantId, limit, statusesFor(action)],
  );
  return rows;
}

/** Stores what became of some targets, and counts it. */
export async function saveOutcomes(
  pool: Pool,
  { id, tenantId }: StopRow,
  outcomes: readonly TargetOutcome[],
): Promise<void> {
  await pool.query(
    `WITH outcome AS (
       SELECT o.run_id, o.state FROM unnest($3::uuid[], $4::text[]) o(run_id, state)),
     saved AS (
       UPDATE run_stop_targets t SET state = outcome.state, attempts = t.attempts + 1
         FROM outcome, run_stops s
        WHERE t.stop_id = $1 AND t.run_id = outcome.run_id AND t.state = 'waiting' AND s.id = $1 AND s.tenant_id = $2
       RETURNING t.state)
     ${counted('saved', 'first_error = coalesce(first_error, $5),')}`,
    [
      id,
      tenantId,
      outcomes.map(({ runId }) => runId),
      outcomes.map(({ state }) => state),
      outcomes.find(({ error }) => error !== undefined)?.error?.slice(0, MAX_ERROR_LENGTH) ?? null,
    ],
  );
}

/**
 * Takes runs that have ended or were deleted since they were found from those that wait, at most `limit`. Returns how
 * many there were.
 */
export async function passEnded(pool: Pool, { id, tenantId, action }: StopRow, limit: number): Promise<number> {
  const { rows } = await pool.query<{ count: string }>(
    `WITH gone AS (
       SELECT t.run_id, r.status FROM run_stop_targets t LEFT JOIN runs r ON r.id = t.run_id AND r.tenant_id = $2
        WHERE t.stop_id = $1 AND t.state = 'waiting' AND (r.id IS NULL OR r.status <> ALL($4))
        LIMIT $3),
     saved AS (
       UPDATE run_stop_targets t SET state = CASE WHEN $5 = 'stop' AND gone.status = 'stopped' THEN 'stopped' ELSE 'ended' END
         FROM gone WHERE t.stop_id = $1 AND t.run_id = gone.run_id RETURNING t.state),
     counted AS (${counted('saved')})
     SELECT count(*) FROM saved`,
    [id, tenantId, limit, statusesFor(action), action],
  );
  return Number(rows[0]?.count ?? 0);
}

const MAX_ERROR_LENGTH = 500;

/** SQL that adds the states of the rows `saved` to the counts of the bulk stop `$1` of the tenant `$2`. */
const counted = (saved: string, more = '') => `
  UPDATE run_stops SET ${more}
      stopped = stopped + (SELECT count(*)::integer FROM ${saved} WHERE state = 'stopped'),
      already_ended = already_ended + (SELECT count(*)::integer FROM ${saved} WHERE state = 'ended'),
      failed = failed + (SELECT count(*)::integer FROM ${saved} WHERE state = 'failed')
    WHERE id = $1 AND tenant_id = $2`;
