import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import type { AnalyticsInput, StepsExecuted, StepsSummary } from './schemas.ts';
import { queryRollups } from './snapshot.ts';
import { sumSteps, sumTotals } from './store.ts';

/** GET /v1/analytics/steps-executed: attempts that ended by themselves. Throws AppError 422, 503. */
export function stepsExecuted(
  ctx: Context,
  input: z.output<typeof AnalyticsInput>,
): Promise<z.input<typeof StepsExecuted>> {
  return queryRollups(ctx, input, async ({ db, scope, segments }) => {
    const totals = await sumTotals(db, scope, segments);
    const { steps_completed: completed = 0, steps_failed: failed = 0, steps_retried: retried = 0 } = totals;
    return { total: completed + failed + retried, completed, failed, retried };
  });
}

/** GET /v1/analytics/steps-summary: the same by step type, with its cost. Throws AppError 422, 503. */
export function stepsSummary(
  ctx: Context,
  input: z.output<typeof AnalyticsInput>,
): Promise<z.input<typeof StepsSummary>> {
  return queryRollups(ctx, input, async ({ db, scope, segments }) => ({ steps: await sumSteps(db, scope, segments) }));
}
