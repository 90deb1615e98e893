import { z } from 'zod';
import { AnyObject, Id, nextCursor, PlainText, page, Timestamp } from '../../operation/wire.ts';
import { GrantFor, GrantInput } from '../agents/schemas.ts';

export const TaskSchema = z.strictObject({
  /** The step id of the `human_task` step. */
  task_id: z.string(),
  run_id: Id,
  workflow_id: Id,
  workflow_name: z.string(),
  project_id: Id,
  name: z.string(),
  instructions: z.string(),
  form: AnyObject.nullable(),
  /** The email addresses or roles that may answer besides a `tenant_admin`. Empty: every contributor. */
  assignees: z.array(z.string()),
  /** The people and roles that the workflow names. They differ from `assignees` after the task was assigned. */
  named_assignees: z.array(z.string()),
  assigned_by: z.string().nullable(),
  assigned_at: Timestamp.nullable(),
  created_at: Timestamp,
  due_at: Timestamp.nullable(),
});
const filters = {
  workflow_id: Id.optional(),
  project_id: Id.optional(),
  q: PlainText(200).optional().meta({ description: 'Part of the name, the instructions or the name of the workflow' }),
};
/** The maximum time that a task can wait until it is due: 366 days. */
const MAX_DUE_S = 31_622_400;
export const ListTasksInput = z.strictObject({
  ...page,
  ...filters,
  due_within_s: z.coerce.number<number>().int().min(1).max(MAX_DUE_S).optional().meta({
    description: 'Only tasks that are due within this many seconds',
  }),
  assignee: PlainText(320).optional().meta({ description: 'An email address or a role that the task names' }),
});
export const ListTasksOutput = z.strictObject({ tasks: z.array(TaskSchema), ...nextCursor });

export const CompleteTaskInput = z.strictObject({
  id: Id,
  runID: Id,
  task_id: z.string().min(1).max(512),
  approved: z.boolean(),
  result: AnyObject.optional(),
  grant: GrantInput.optional().meta({
    description: 'With the approval of a call of an agent: calls like it are no longer asked for',
  }),
});
export const CompleteTaskOutput = z.strictObject({
  status: z.literal('completed'),
  task_id: z.string(),
  approved: z.boolean(),
  grant_id: Id.optional().meta({ description: 'Of the grant that the answer gave' }),
});

/** The maximum number of people that a task can be assigned to. */
const MAX_ASSIGNEES = 20;
export const AssignTaskInput = z.strictObject({
  id: Id,
  runID: Id,
  task_id: z.string().min(1).max(512),
  assignees: z.array(PlainText(320).min(1)).min(1).max(MAX_ASSIGNEES).nullable().meta({
    description: `Email addresses of members who may answer tasks of the project, or the roles \`project_contributor\` and \`tenant_admin\`. Null gives the task back to those that the workflow names`,
  }),
});

export const RunTasksInput = z.strictObject({
  ...page,
  id: Id,
  runID: Id,
  task_id: z.string().min(1).max(512).optional().meta({ description: 'Only this task' }),
});
export const TaskState = z.enum(['pending', 'completed', 'timed_out', 'cancelled']);
/** A task of a run, pending or not, so that a client can show who has already answered it. */
export const RunTaskSchema = TaskSchema.extend({
  state: TaskState,
  approved: z.boolean().nullable(),
  completed_by: z.string().nullable(),
  completed_at: Timestamp.nullable(),
  grants: z.array(GrantFor).optional().meta({
    description:
      'What an approval may allow for good, where one task was asked for that waits for the approval of a call of an agent',
  }),
  asked_because: z.string().optional().meta({
    description:
      'In the same place: the text from outside, and the private data, that the agent has read, without which it would not ask',
  }),
  max_cost_microcredits: z.number().int().nullable().optional().meta({
    description:
      'In the same place: what the call may be charged at most, at the present prices; null: it may start or continue runs, whose cost is not known. Absent where nothing is charged',
  }),
});
export const ListRunTasksOutput = z.strictObject({ tasks: z.array(RunTaskSchema), ...nextCursor });

export const ListAnsweredInput = z.strictObject({
  ...page,
  ...filters,
  completed_by: PlainText(320).optional().meta({ description: 'The email address of the person who answered' }),
});
