import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import type { AnalyticsInput, RunsCount } from './schemas.ts';
import { queryRollups } from './snapshot.ts';
import { sumTotals, sumTriggers, topWorkflows } from './store.ts';

/** GET /v1/analytics/runs-count: runs that started and ended, by trigger type and by workflow. Throws AppError 422, 503. */
export function runsCount(ctx: Context, input: z.output<typeof AnalyticsInput>): Promise<z.input<typeof RunsCount>> {
  return queryRollups(ctx, input, async ({ db, scope, segments }) => {
    const totals = await sumTotals(db, scope, segments);
    const workflows = await topWorkflows(db, scope, segments, ['runs_started'], ['runs_failed']);
    return {
      started: totals.runs_started ?? 0,
      completed: totals.runs_completed ?? 0,
      failed: totals.runs_failed ?? 0,
      stopped: totals.runs_stopped ?? 0,
      by_trigger: await sumTriggers(db, scope, segments),
      by_workflow: workflows.map(({ id, name, totals: of }) => ({
        workflow_id: id,
        workflow_name: name,
        started: of.runs_started ?? 0,
        failed: of.runs_failed ?? 0,
      })),
    };
  });
}
