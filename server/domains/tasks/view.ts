import type { z } from 'zod';
import { isoTimestamp } from '../../platform/clock.ts';
import type { RunTaskSchema, TaskSchema } from './schemas.ts';
import type { TaskRow } from './store.ts';

/** The driver returns PostgreSQL's `infinity`, which overrides could set in earlier versions, as a number. */
const dueTime = (at: Date | number): number => (typeof at === 'number' ? at : at.getTime());

/** Returns a task in the form that every surface shows. */
export function toTask(row: TaskRow): z.input<typeof TaskSchema> {
  return {
    task_id: row.step_id,
    run_id: row.run_id,
    workflow_id: row.workflow_id,
    workflow_name: row.workflow_name,
    project_id: row.project_id,
    name: row.name,
    instructions: row.instructions,
    form: row.form,
    assignees: row.assignees,
    named_assignees: row.named_assignees,
    assigned_by: row.assigned_by,
    assigned_at: row.assigned_at && isoTimestamp(row.assigned_at.getTime()),
    created_at: isoTimestamp(row.created_at.getTime()),
    due_at: row.due_at === null ? null : isoTimestamp(dueTime(row.due_at)),
  };
}

/** Returns a task with its outcome. */
export function toRunTask(row: TaskRow): z.input<typeof RunTaskSchema> {
  return {
    ...toTask(row),
    state: row.state,
    approved: row.approved,
    completed_by: row.completed_by,
    completed_at: row.completed_at && isoTimestamp(row.completed_at.getTime()),
  };
}
