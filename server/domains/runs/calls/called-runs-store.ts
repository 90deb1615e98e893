import type { Pool } from 'pg';
import { RUN_COLUMNS, type RunRow, type RunScope } from '../store.ts';

export type CallRow = {
  seq: number;
  step_id: string;
  attempt: number;
  run_id: string;
  workflow_id: string;
  /** Null where it has not started yet, or is past its retention. */
  run: RunRow | null;
};

type StoredCall = Pick<CallRow, 'seq' | 'step_id' | 'attempt'> & { called_run: string; called_workflow: string };

export type CallFilter = {
  /** This step, and the steps that it added to the run. */
  stepId?: string | undefined;
  /** Calls after this event. */
  after: number;
  limit: number;
};

/**
 * Returns the calls of a run in the order of its log, with the runs that they started. The log has all of them; the steps of a loop leave
 * every other state when they end.
 */
export async function listCalls(pool: Pool, scope: RunScope, filter: CallFilter): Promise<CallRow[]> {
  const { rows } = await pool.query<StoredCall & { [column in keyof RunRow]: RunRow[column] | null }>(
    `SELECT c.*, ${RUN_COLUMNS}, w.name AS workflow_name
       FROM (SELECT e.seq, e.step_id, e.attempt, (e.data->>'run_id')::uuid AS called_run, e.data->>'workflow_id' AS called_workflow
               FROM run_events e
              WHERE e.run_id = $1 AND e.seq > $4 AND e.event_type = 'child_called'
                AND ($5::text IS NULL OR e.step_id = $5 OR starts_with(e.step_id, $5 || '.'))
              ORDER BY e.seq LIMIT $6) c
       LEFT JOIN runs r ON r.id = c.called_run AND r.tenant_id = $2 AND r.project_id = $3
       LEFT JOIN workflows w ON w.id = r.workflow_id
      ORDER BY c.seq`,
    [scope.runId, scope.tenantId, scope.projectId, filter.after, filter.stepId ?? null, filter.limit],
  );
  return rows.map(({ seq, step_id, attempt, called_run, called_workflow, ...run }) => ({
    seq,
    step_id,
    attempt,
    run_id: called_run,
    workflow_id: called_workflow,
    run: isRun(run) ? run : null,
  }));
}

/** A left join without a partner has null in every column. */
const isRun = (row: { id: string | null }): row is RunRow => row.id !== null;
