import type { Pool } from 'pg';
import type { JsonMap } from '../../orchestrator/core/index.ts';
import { escapeLike } from '../../platform/postgres/prisma.ts';
import type { Queryable } from '../../platform/postgres/transaction.ts';
import type { RunScope } from '../runs/store.ts';
import { readerValues, type TaskReader, visibleTasks } from './visible-store.ts';

export type TaskRow = {
  run_id: string;
  step_id: string;
  project_id: string;
  workflow_id: string;
  workflow_name: string;
  name: string;
  instructions: string;
  form: JsonMap | null;
  /** The people or roles that the task was assigned to; if it was not assigned, those that its workflow names. */
  assignees: string[];
  named_assignees: string[];
  assigned_by: string | null;
  assigned_at: Date | null;
  state: 'pending' | 'completed' | 'timed_out' | 'cancelled';
  approved: boolean | null;
  completed_by: string | null;
  created_at: Date;
  /** The driver returns a number for `infinity`. */
  due_at: Date | number | null;
  completed_at: Date | null;
};
export type TaskKey = { at: Date; runId: string; stepId: string };

const columns = (
  instructions: string,
): string => `t.run_id, t.step_id, t.project_id, t.workflow_id, w.name AS workflow_name, t.name,
  ${instructions} AS instructions, t.form,
  coalesce(t.assigned_to, t.assignees) AS assignees, t.assignees AS named_assignees, t.assigned_by, t.assigned_at, t.state, t.approved, t.completed_by, t.created_at, t.due_at, t.completed_at`;

/** The filters that all lists of a tenant's tasks share. */
export type TaskFilter = {
  workflowId: string | undefined;
  /** A part of the task's name, its instructions or the name of its workflow. */
  q: string | undefined;
  after: TaskKey | null;
  limit: number;
  reader: TaskReader;
};
const containing = (q: string | undefined) => (q === undefined ? null : `%${escapeLike(q)}%`);

/** Returns tasks that wait for a person, newest first, in some projects of the tenant. */
export async function listPendingTasks(
  pool: Pool,
  tenantId: string,
  projectIds: readonly string[],
  filter: TaskFilter & { assignee: string | undefined; dueBefore: Date | undefined },
): Promise<TaskRow[]> {
  const visible = visibleTasks(11);
  const { rows } = await pool.query<TaskRow>(
    `SELECT ${columns(visible.instructions)} FROM ${visible.from}
      WHERE t.tenant_id = $1 AND t.project_id = ANY($2::uuid[]) AND t.state = 'pending' AND ${visible.where}
        AND ($3::uuid IS NULL OR t.workflow_id = $3)
        AND ($4::text IS NULL OR EXISTS (SELECT FROM unnest(coalesce(t.assigned_to, t.assignees)) a WHERE lower(a) = lower($4)))
        AND ($5::timestamptz IS NULL OR (t.created_at, t.run_id, t.step_id) < ($5, $6::uuid, $7))
        AND ($9::text IS NULL OR t.name ILIKE $9 OR ${visible.instructions} ILIKE $9 OR w.name ILIKE $9)
        AND ($10::timestamptz IS NULL OR t.due_at <= $10)
      ORDER BY t.created_at DESC, t.run_id DESC, t.step_id DESC LIMIT $8`,
    [
      tenantId,
      projectIds,
      filter.workflowId ?? null,
      filter.assignee ?? null,
      filter.after?.at ?? null,
      filter.after?.runId ?? null,
      filter.after?.stepId ?? null,
      filter.limit,
      containing(filter.q),
      filter.dueBefore ?? null,
      ...readerValues(filter.reader),
    ],
  );
  return rows;
}

/** Returns tasks that people have answered, the latest answer first, in some projects of the tenant. */
export async function listAnsweredTasks(
  pool: Pool,
  tenantId: string,
  projectIds: readonly string[],
  filter: TaskFilter & { completedBy: string | undefined },
): Promise<TaskRow[]> {
  const visible = visibleTasks(10);
  const { rows } = await pool.query<TaskRow>(
    `SELECT ${columns(visible.instructions)} FROM ${visible.from}
      WHERE t.tenant_id = $1 AND t.project_id = ANY($2::uuid[]) AND t.state = 'completed' AND ${visible.where}
        AND ($3::uuid IS NULL OR t.workflow_id = $3)
        AND ($4::text IS NULL OR lower(t.completed_by) = lower($4))
        AND ($5::timestamptz IS NULL OR (t.completed_at, t.run_id, t.step_id) < ($5, $6::uuid, $7))
        AND ($9::text IS NULL OR t.name ILIKE $9 OR ${visible.instructions} ILIKE $9 OR w.name ILIKE $9)
      ORDER BY t.completed_at DESC, t.run_id DESC, t.step_id DESC LIMIT $8`,
    [
      tenantId,
      projectIds,
      filter.workflowId ?? null,
      filter.completedBy ?? null,
      filter.after?.at ?? null,
      filter.after?.runId ?? null,
      filter.after?.stepId ?? null,
      filter.limit,
      containing(filter.q),
      ...readerValues(filter.reader),
    ],
  );
  return rows;
}

/** Returns tasks of one run in the order in which they were created; with `pendingOnly`, only those that still wait. */
export async function listRunTasks(
  pool: Pool,
  scope: RunScope,
  filter: {
    pendingOnly: boolean;
    stepId: string | undefined;
    after: Pick<TaskKey, 'at' | 'stepId'> | null;
    limit: number;
    reader: TaskReader;
  },
): Promise<TaskRow[]> {
  const visible = visibleTasks(10);
  const { rows } = await pool.query<TaskRow>(
    `SELECT ${columns(visible.instructions)} FROM ${visible.from}
      WHERE t.run_id = $1 AND t.tenant_id = $2 AND t.project_id = $3 AND t.workflow_id = $4 AND ${visible.where}
        AND (NOT $5::boolean OR t.state = 'pending')
        AND ($6::text IS NULL OR t.step_id = $6)
        AND ($7::timestamptz IS NULL OR (t.created_at, t.step_id) > ($7, $8))
      ORDER BY t.created_at, t.step_id LIMIT $9`,
    [
      scope.runId,
      scope.tenantId,
      scope.projectId,
      scope.workflowId,
      filter.pendingOnly,
      filter.stepId ?? null,
      filter.after?.at ?? null,
      filter.after?.stepId ?? null,
      filter.limit,
      ...readerValues(filter.reader),
    ],
  );
  return rows;
}

/**
 * Returns one task for a person who wants to answer or assign it; null if the run has no task of this step that the
 * person sees.
 */
export async function findTask(
  pool: Pool,
  scope: RunScope,
  stepId: string,
  reader: TaskReader,
): Promise<TaskRow | null> {
  const visible = visibleTasks(6);
  const { rows } = await pool.query<TaskRow>(
    `SELECT ${columns(visible.instructions)} FROM ${visible.from}
      WHERE t.run_id = $1 AND t.step_id = $2 AND t.tenant_id = $3 AND t.project_id = $4 AND t.workflow_id = $5
        AND ${visible.whereAnswerable}`,
    [scope.runId, stepId, scope.tenantId, scope.projectId, scope.workflowId, ...readerValues(reader)],
  );
  return rows[0] ?? null;
}

/**
 * Assigns a pending task, or with `to: null` returns it to the people that its workflow names. Returns false if the
 * task is no longer pending. The caller must hold the progress of notifications, because the task takes a new number,
 * and the people who may answer it now are notified by this number.
 */
export async function assignPendingTask(
  db: Queryable,
  scope: RunScope,
  stepId: string,
  { to, by, at }: { to: readonly string[] | null; by: string; at: Date },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE human_tasks SET assigned_to = $6::text[], assigned_by = $7, assigned_at = $8,
            seq = nextval('human_tasks_seq_seq')
      WHERE run_id = $1 AND step_id = $2 AND tenant_id = $3 AND project_id = $4 AND workflow_id = $5 AND state = 'pending'`,
    [
      scope.runId,
      stepId,
      scope.tenantId,
      scope.projectId,
      scope.workflowId,
      to,
      to === null ? null : by,
      to === null ? null : at,
    ],
  );
  return rowCount === 1;
}
