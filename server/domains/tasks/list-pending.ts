import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { cutPage } from '../../operation/cursor.ts';
import type { ListTasksInput, ListTasksOutput } from './schemas.ts';
import { listPendingTasks } from './store.ts';
import { blankAsNone, readTaskCursor, taskProjects } from './task-list.ts';
import { toTask } from './view.ts';
import { readerOf } from './visible-store.ts';

/**
 * Returns the inbox: the tasks that wait for a person in all projects of the tenant that the user can see, newest
 * first. Throws AppError 422 (a cursor of another list).
 */
export async function listPending(
  ctx: Context,
  input: z.output<typeof ListTasksInput>,
): Promise<z.input<typeof ListTasksOutput>> {
  const { pool, clock } = ctx.services;
  const { due_within_s: dueWithin } = input;
  const rows = await listPendingTasks(pool, ctx.principal.tenantId, await taskProjects(ctx, input.project_id), {
    workflowId: input.workflow_id,
    q: blankAsNone(input.q),
    assignee: blankAsNone(input.assignee),
    dueBefore: dueWithin === undefined ? undefined : new Date(clock.now() + dueWithin * 1000),
    after: readTaskCursor(input.cursor),
    limit: input.limit + 1,
    reader: readerOf(ctx.principal),
  });
  const page = cutPage(rows, input.limit, row => [row.created_at.getTime(), row.run_id, row.step_id]);
  return { tasks: page.rows.map(toTask), next_cursor: page.next_cursor };
}
