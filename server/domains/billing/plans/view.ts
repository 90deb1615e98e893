import type { z } from 'zod';
import type { PlanRow } from '../../../operation/plan.ts';
import { ACTIONS, BILLABLE_ACTIONS } from '../../../orchestrator/ports/billable-actions.ts';
import type { ActionPricing, Plan } from '../schemas.ts';
import { toPlanFields } from './catalog.ts';

/** Returns a plan for the wire (docs/specification/billing.md#plans). */
export function toPlanView(plan: PlanRow): z.input<typeof Plan> {
  const { product_code: _, prices: __, trial_credits, included_credits, ...shown } = toPlanFields(plan);
  return { ...shown, trial_credits_granted: trial_credits, included_credits_granted: included_credits };
}

/** Returns the price of each billable action on a plan. */
export function toPricingView({ planCode, prices }: PlanRow): z.input<typeof ActionPricing> {
  return {
    plan_code: planCode,
    prices: BILLABLE_ACTIONS.map(action => ({ action, unit: ACTIONS[action].unit, microcredits: prices[action] })),
  };
}
