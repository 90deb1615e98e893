import type { z } from 'zod';
import { ACTIONS, BILLABLE_ACTIONS } from '../../../contract/billable-actions.ts';
import type { PlanRow } from '../../../contract/plan.ts';
import type { ActionPricing, Plan } from '../schemas.ts';

/** A plan as the API shows it (docs/specification/billing.md#plans). */
export function toPlanView(plan: PlanRow): z.input<typeof Plan> {
  return {
    plan_code: plan.planCode,
    ...(plan.paymentPriceId === null ? {} : { payment_price_id: plan.paymentPriceId }),
    amount: plan.amount,
    currency: plan.currency,
    interval: plan.interval,
    interval_count: plan.intervalCount,
    product_name: plan.productName,
    trial_enabled: plan.trialEnabled,
    trial_requires_card: plan.trialRequiresCard,
    trial_days: plan.trialDays,
    trial_credits_granted: plan.trialCredits,
    onboarding_default: plan.onboardingDefault,
    self_serve_onboarding: plan.selfServeOnboarding,
    included_credits_granted: plan.includedCredits,
  };
}

/** Returns the price of each billable action on a plan. */
export function toPricingView({ planCode, prices }: PlanRow): z.input<typeof ActionPricing> {
  return {
    plan_code: planCode,
    prices: BILLABLE_ACTIONS.map(action => ({ action, unit: ACTIONS[action].unit, microcredits: prices[action] })),
  };
}
