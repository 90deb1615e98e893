import { z } from 'zod';
import type { Context } from '../../contract/context.ts';
import { CursorTime, cutPage, decodeCursor } from '../../contract/cursor.ts';
import { Id } from '../../contract/wire.ts';
import { visibleProjects } from '../runs/visibility.ts';
import type { ListTasksInput, ListTasksOutput } from './schemas.ts';
import { listPendingTasks } from './store.ts';
import { toTask } from './view.ts';

const TaskKey = z.tuple([CursorTime, Id, z.string().regex(/^[A-Za-z0-9_-]{1,64}$/)]);

/** The inbox: what waits for a person in all projects of the tenant that the user can see, newest first. */
export async function listPending(
  ctx: Context,
  input: z.output<typeof ListTasksInput>,
): Promise<z.input<typeof ListTasksOutput>> {
  const key = decodeCursor(TaskKey, input.cursor);
  const rows = await listPendingTasks(ctx.services.pool, ctx.principal.tenantId, await visibleProjects(ctx), {
    workflowId: input.workflow_id,
    assignee: input.assignee === '' ? undefined : input.assignee,
    after: key && { at: new Date(key[0]), runId: key[1], stepId: key[2] },
    limit: input.limit + 1,
  });
  const page = cutPage(rows, input.limit, row => [row.created_at.getTime(), row.run_id, row.step_id]);
  return { tasks: page.rows.map(toTask), next_cursor: page.next_cursor };
}
