import type { PlanRow } from '../../../operation/plan.ts';
import { invalid } from '../../../platform/errors.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import { findPlan, type PlanChoice } from '../plans/store.ts';
import type { SubscriptionRow } from './store.ts';

/** Returns the plan that a request names. Throws AppError 422 if the product does not have the plan, or it is no longer sold. */
export async function choosePlan(db: Queryable, productCode: string, choice: PlanChoice): Promise<PlanRow> {
  const plan = await findPlan(db, productCode, choice);
  if (plan !== null && !plan.retired) return plan;
  const path = choice.plan_code === undefined ? 'payment_price_id' : 'plan_code';
  throw invalid('This plan does not exist.', [{ path, message: 'is not a plan that is for sale' }], 'unknown_plan');
}

/** Throws AppError 422 for a plan that only an operator can assign. */
export function requireSelfServe(plan: PlanRow): void {
  if (!plan.selfServeOnboarding)
    throw invalid(
      `${plan.productName} is arranged with the operator of this service.`,
      undefined,
      'plan_not_self_serve',
    );
}

/** Returns the plan of a subscription, retired or not. */
export async function presentPlan(db: Queryable, row: SubscriptionRow): Promise<PlanRow> {
  const plan = await findPlan(db, row.productCode, { plan_code: row.planCode });
  if (plan === null) throw new Error(`${row.tenantId} is on the plan ${row.planCode}, which does not exist`);
  return plan;
}

/** Returns whether the subscription is running: paid, overdue, or about to end. */
export const isSubscribed = (row: SubscriptionRow): boolean =>
  row.subscriptionId !== null && (row.status === 'active' || row.status === 'past_due');
