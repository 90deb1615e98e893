import type { Pool } from 'pg';
import { statusesFor } from './actions.ts';
import type { StopRow } from './store.ts';

/** A run that a bulk action has yet to stop, repeat or continue. */
export type Target = {
  runId: string;
  projectId: string;
  workflowId: string;
  /** The number of authored steps that have not ended, which is about the number of events that the stop writes. */
  open: number;
  attempts: number;
  /** The id of the run that repeats the target; null for a stop. */
  newRunId: string | null;
  /** The step at which the run failed. */
  failedStep: string | null;
};

export type TargetOutcome = {
  runId: string;
  /** `waiting`: the target is tried again. `stopped`: the run was stopped, or the run that repeats it was started. */
  state: 'waiting' | 'stopped' | 'ended' | 'failed';
  /** The reason of the failure. */
  error?: string;
};

/** Returns at most `limit` waiting targets. Targets that failed before come last. */
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

/** Stores the results of targets and updates the counts. */
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
     ${withCounts('saved', 'first_error = coalesce(first_error, $5),')}`,
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
 * Removes at most `limit` waiting targets whose run has ended or was deleted meanwhile. Returns how many it removed.
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
     counted AS (${withCounts('saved')})
     SELECT count(*) FROM saved`,
    [id, tenantId, limit, statusesFor(action), action],
  );
  return Number(rows[0]?.count ?? 0);
}

const MAX_ERROR_LENGTH = 500;

/** SQL that adds the states of the rows `saved` to the counts of the bulk stop `$1` of the tenant `$2`. */
const withCounts = (saved: string, more = '') => `
  UPDATE run_stops SET ${more}
      stopped = stopped + (SELECT count(*)::integer FROM ${saved} WHERE state = 'stopped'),
      already_ended = already_ended + (SELECT count(*)::integer FROM ${saved} WHERE state = 'ended'),
      failed = failed + (SELECT count(*)::integer FROM ${saved} WHERE state = 'failed')
    WHERE id = $1 AND tenant_id = $2`;
