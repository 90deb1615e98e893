import { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { CursorTime, cutPage, decodeCursor } from '../../operation/cursor.ts';
import { maxCostOfCall } from '../agents/approval-cost.ts';
import { type AskedCall, findAskedCall } from '../agents/grants/asked-call.ts';
import { grantableFor } from '../agents/grants/give.ts';
import { presentPrices } from '../billing/subscriptions/present-prices.ts';
import { requireListedRun, runScope } from '../runs/access/find.ts';
import type { ListRunTasksOutput, ListTasksOutput, RunTasksInput } from './schemas.ts';
import { listRunTasks } from './store.ts';
import { TaskStep } from './task-list.ts';
import { toRunTask, toTask } from './view.ts';
import { readerOf } from './visible-store.ts';

type Input = z.output<typeof RunTasksInput>;

const RunTaskKey = z.tuple([CursorTime, TaskStep]);

/** Lists the tasks of one run that wait for a person, oldest first. */
export async function listPendingOfRun(ctx: Context, input: Input): Promise<z.input<typeof ListTasksOutput>> {
  const page = await readPage(ctx, input, true);
  return { tasks: page.rows.map(toTask), next_cursor: page.next_cursor };
}

/** Returns every task of one run with its answer, oldest first. */
export async function listAllOfRun(ctx: Context, input: Input): Promise<z.input<typeof ListRunTasksOutput>> {
  const page = await readPage(ctx, input, false);
  const tasks = page.rows.map(toRunTask);
  const [task] = tasks;
  if (input.task_id === undefined || task?.state !== 'pending') return { tasks, next_cursor: page.next_cursor };
  // Reads the prompt of the agent, which may be large, so it is done only for a task that a person opens.
  const askedCall = await findAskedCall(ctx, task.run_id, task.task_id);
  if (askedCall === null) return { tasks, next_cursor: page.next_cursor };
  const grants = await grantableFor(ctx, askedCall);
  const { outside, private: hidden } = askedCall.row;
  const facts = {
    ...(grants.length > 0 && { grants }),
    ...(outside !== null && { asked_because: reasonOf(outside, hidden) }),
    ...(await costOf(ctx, askedCall)),
  };
  return { tasks: [{ ...task, ...facts }], next_cursor: page.next_cursor };
}

/** Returns nothing if calls are not charged, or for a question, because its answer makes no call. */
async function costOf({ services, principal }: Context, { tool }: AskedCall) {
  const prices = await presentPrices(services, principal.tenantId);
  const cost = prices === null ? undefined : maxCostOfCall(tool, prices);
  return cost === undefined ? {} : { max_cost_microcredits: cost };
}

/** Uses the same words as the task, in which the agent asks. */
const reasonOf = (outside: string, hidden: string | null): string =>
  hidden === null
    ? `It has read text from outside, ${outside}.`
    : `It has read private data, ${hidden}, and could send it out; it has also read text from outside, ${outside}.`;

async function readPage(ctx: Context, input: Input, pendingOnly: boolean) {
  const key = decodeCursor(RunTaskKey, input.cursor);
  // People who may answer a task see it, even if the run belongs to a private thread of another user.
  await requireListedRun(ctx, input);
  const rows = await listRunTasks(ctx.services.pool, runScope(ctx, input), {
    pendingOnly,
    stepId: input.task_id,
    after: key && { at: new Date(key[0]), stepId: key[1] },
    limit: input.limit + 1,
    reader: readerOf(ctx.principal),
  });
  return cutPage(rows, input.limit, row => [row.created_at.getTime(), row.step_id]);
}
