import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { cutPage } from '../../operation/cursor.ts';
import type { ListAnsweredInput, ListRunTasksOutput } from './schemas.ts';
import { listAnsweredTasks } from './store.ts';
import { blankAsNone, readTaskCursor, taskProjects } from './task-list.ts';
import { toRunTask } from './view.ts';
import { readerOf } from './visible-store.ts';

/**
 * Returns the history of the inbox: the tasks that people answered in all projects of the tenant that the user can see,
 * the latest answer first. Throws AppError 422 (a cursor of another list).
 */
export async function listAnswered(
  ctx: Context,
  input: z.output<typeof ListAnsweredInput>,
): Promise<z.input<typeof ListRunTasksOutput>> {
  const { pool } = ctx.services;
  const rows = await listAnsweredTasks(pool, ctx.principal.tenantId, await taskProjects(ctx, input.project_id), {
    workflowId: input.workflow_id,
    q: blankAsNone(input.q),
    completedBy: blankAsNone(input.completed_by),
    after: readTaskCursor(input.cursor),
    limit: input.limit + 1,
    reader: readerOf(ctx.principal),
  });
  const page = cutPage(rows, input.limit, row => [row.completed_at?.getTime() ?? 0, row.run_id, row.step_id]);
  return { tasks: page.rows.map(toRunTask), next_cursor: page.next_cursor };
}
