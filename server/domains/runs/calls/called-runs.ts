import { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { cutPage, decodeCursor } from '../../../operation/cursor.ts';
import { MAX_INTEGER } from '../../../operation/wire.ts';
import { requireRun, runScope } from '../access/find.ts';
import { toRun } from '../view.ts';
import { listCalls } from './called-runs-store.ts';
import type { ListCalledRunsInput, ListCalledRunsOutput } from './schemas.ts';

/** The keyset is the number of the event that records the call. */
const SeqKey = z.tuple([z.number().int().min(0).max(MAX_INTEGER)]);

/**
 * Returns a page of the runs that a run has called, oldest call first; with `step_id`, the runs called by this step and
 * by the steps that it added. Throws AppError 404, and 422 for a cursor of another list.
 */
export async function listCalledRuns(
  ctx: Context,
  input: z.output<typeof ListCalledRunsInput>,
): Promise<z.input<typeof ListCalledRunsOutput>> {
  const key = decodeCursor(SeqKey, input.cursor);
  await requireRun(ctx, input);
  const rows = await listCalls(ctx.services.pool, runScope(ctx, input), {
    stepId: input.step_id,
    after: key?.[0] ?? 0,
    limit: input.limit + 1,
  });
  const page = cutPage(rows, input.limit, row => [row.seq]);
  return {
    called_runs: page.rows.map(({ seq: _seq, run, ...call }) => ({ ...call, run: run && toRun(run) })),
    next_cursor: page.next_cursor,
  };
}
