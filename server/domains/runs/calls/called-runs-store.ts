import type { Pool } from 'pg';
import { RUN_COLUMNS, type RunRow, type RunScope } from '../store.ts';

export type CallRow = {
  seq: number;
  step_id: string;
  attempt: number;
  run_id: string;
  workflow_id: string;
  /** Null before the run has started and after its retention. */
  run: RunRow | null;
};

type StoredCall = Pick<CallRow, 'seq' | 'step_id' | 'attempt'> & { called_run: string; called_workflow: string };

export type CallFilter = {
  /** Only calls of this step, and of the steps that it added to the run. */
  stepId?: string | undefined;
  /** Only calls after the event with this number. */
  after: number;
  limit: number;
};

/**
 * Returns the calls of a run in the order of its log, with the runs that they started. Reads the log, because it keeps
 * the ended steps of a loop, which every other state drops.
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

/** The left join returns null in every column of a run that does not exist. */
const isRun = (row: { id: string | null }): row is RunRow => row.id !== null;
