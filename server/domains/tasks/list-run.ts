import type { z } from 'zod';
import type { Context } from '../../api/context.ts';
import { requireRun, runScope } from '../runs/find.ts';
import type { ListRunTasksOutput, ListTasksOutput, RunTasksInput } from './schemas.ts';
import { listRunTasks } from './store.ts';
import { toRunTask, toTask } from './view.ts';

type Input = z.output<typeof RunTasksInput>;

/** What waits for a person in one run, oldest first. */
export async function listPendingOfRun(ctx: Context, input: Input): Promise<z.input<typeof ListTasksOutput>> {
  await requireRun(ctx, input);
  const rows = await listRunTasks(ctx.services.pool, runScope(ctx, input), true);
  return { tasks: rows.map(toTask), next_cursor: null };
}

/** Every task of one run with its answer, oldest first. */
export async function listAllOfRun(ctx: Context, input: Input): Promise<z.input<typeof ListRunTasksOutput>> {
  await requireRun(ctx, input);
  const rows = await listRunTasks(ctx.services.pool, runScope(ctx, input), false);
  return { tasks: rows.map(toRunTask), next_cursor: null };
}
