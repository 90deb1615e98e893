import type { BillingStatus, Plan } from './wire.ts';

/** What can be done with a plan from where the workspace stands. */
export type PlanAction = 'trial' | 'subscribe' | 'change' | 'convert' | 'cancel' | 'keep';

/** The offers on a plan's card, the one that is meant most first. `current` is the present plan, absent where it is no longer sold. */
export function planActions(plan: Plan, status: BillingStatus, current: Plan | undefined): PlanAction[] {
  const paying = isPaying(status, current);
  if (plan.plan_code === status.plan_code && status.status !== 'cancelled') return currentActions(status, current);
  // The way back to a free plan is the end of the paid one.
  if (plan.amount === 0) return paying && !status.cancel_at_period_end ? ['cancel'] : [];
  if (status.pending_plan_code === plan.plan_code) return [];
  if (paying) return ['change'];
  const trial = plan.trial_enabled && status.trial.available;
  return trial ? ['trial', 'subscribe'] : ['subscribe'];
}

/** A plan that is no longer sold was paid for, or nobody would have kept it in the catalogue. */
const isPaying = (status: BillingStatus, current: Plan | undefined) =>
  status.status !== 'cancelled' && (current === undefined || current.amount > 0);

/** What can be done with the present plan. One that is no longer sold can be left, and kept, and no more. */
export function currentActions(status: BillingStatus, current: Plan | undefined): PlanAction[] {
  if (!isPaying(status, current)) return [];
  const actions = paidActions(status);
  return current ? actions : actions.filter(action => action === 'cancel' || action === 'keep');
}

function paidActions(status: BillingStatus): PlanAction[] {
  if (status.status === 'incomplete') return ['subscribe', 'cancel'];
  if (status.cancel_at_period_end || status.pending_plan_code !== null) return ['keep'];
  return status.status === 'trialing' ? ['convert', 'cancel'] : ['cancel'];
}
