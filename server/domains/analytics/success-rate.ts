import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import type { AnalyticsInput, SuccessRate } from './schemas.ts';
import { queryRollups } from './snapshot.ts';
import { sumTotals } from './store.ts';

/** GET /v1/analytics/success-rate: how the ended runs ended. Throws AppError 422, 503. */
export function successRate(
  ctx: Context,
  input: z.output<typeof AnalyticsInput>,
): Promise<z.input<typeof SuccessRate>> {
  return queryRollups(ctx, input, async ({ db, scope, segments }) => {
    const totals = await sumTotals(db, scope, segments);
    const { runs_completed: completed = 0, runs_failed: failed = 0, runs_stopped: stopped = 0 } = totals;
    const judged = completed + failed;
    return {
      total: judged + stopped,
      completed,
      failed,
      stopped,
      success_rate: judged === 0 ? null : completed / judged,
    };
  });
}
