import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { BILLABLE_ACTIONS, type BillableAction } from '../../orchestrator/ports/billable-actions.ts';
import { ACTION_COLUMNS } from './action-columns.ts';
import type { AnalyticsInput, CreditsConsumed } from './schemas.ts';
import { queryRollups } from './snapshot.ts';
import { sumTotals, type Totals, topWorkflows } from './store.ts';

const microcreditColumns = BILLABLE_ACTIONS.map(action => ACTION_COLUMNS[action].microcredits);

/** Returns the total charge, in microcredits. */
export const microcreditsOf = (totals: Totals): number =>
  microcreditColumns.reduce((sum, column) => sum + (totals[column] ?? 0), 0);

/** Returns the used quantity of an action: the attempts of steps with any outcome, or the counted quantity. */
export function quantityOf(totals: Totals, action: BillableAction): number {
  if (action === 'workflow_step')
    return (totals.steps_completed ?? 0) + (totals.steps_failed ?? 0) + (totals.steps_retried ?? 0);
  return totals[ACTION_COLUMNS[action].quantity] ?? 0;
}

/** GET /v1/analytics/credits-consumed: the charges, by billable action and by workflow. Throws AppError 422, 503. */
export function creditsConsumed(
  ctx: Context,
  input: z.output<typeof AnalyticsInput>,
): Promise<z.input<typeof CreditsConsumed>> {
  return queryRollups(ctx, input, async ({ db, scope, segments }) => {
    const totals = await sumTotals(db, scope, segments);
    const workflows = await topWorkflows(db, scope, segments, microcreditColumns);
    return {
      microcredits: microcreditsOf(totals),
      by_action: BILLABLE_ACTIONS.map(action => ({
        action,
        quantity: quantityOf(totals, action),
        microcredits: totals[ACTION_COLUMNS[action].microcredits] ?? 0,
      })),
      by_workflow: workflows.map(({ id, name, totals: spent }) => ({
        workflow_id: id,
        workflow_name: name,
        microcredits: microcreditsOf(spent),
      })),
    };
  });
}
