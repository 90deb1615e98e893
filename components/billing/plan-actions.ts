import type { BillingStatus, Plan } from './wire.ts';

/** The possible actions on a plan in the workspace's current state. */
export type PlanAction = 'trial' | 'subscribe' | 'change' | 'convert' | 'cancel' | 'keep';

/** The offers on a plan's card, the one that is meant most first. `current` is the present plan, absent where it is no longer sold. */
export function planActions(plan: Plan, status: BillingStatus, current: Plan | undefined): PlanAction[] {
  if (status.status === 'incomplete') return waitingActions(plan, status);
  if (plan.plan_code === status.plan_code && status.status !== 'cancelled') return currentActions(status, current);
  const paying = isPaying(status, current);
  // The way back to a free plan is the end of the paid one.
  if (plan.amount === 0) return paying && !status.cancel_at_period_end ? ['cancel'] : [];
  if (!plan.self_serve_onboarding || status.pending_plan_code === plan.plan_code) return [];
  // From a trial one subscribes; only what is paid already is changed.
  if (paying) return status.status === 'trialing' ? ['subscribe'] : ['change'];
  return plan.trial_enabled && status.trial.available ? ['trial', 'subscribe'] : ['subscribe'];
}

/**
 * While the first payment of a plan, or the card of a trial, waits for its confirmation: confirm it, discard it, or
 * choose another plan.
 */
function waitingActions(plan: Plan, status: BillingStatus): PlanAction[] {
  const orders: PlanAction[] =
    plan.trial_enabled && status.trial.started_at === null ? ['trial', 'subscribe'] : ['subscribe'];
  if (plan.plan_code === status.pending_plan_code) return [...orders, 'cancel'];
  return plan.amount > 0 && plan.self_serve_onboarding && plan.plan_code !== status.plan_code ? orders : [];
}

/** A plan that is no longer sold was paid for, or it would have been removed from the catalog. */
const isPaying = (status: BillingStatus, current: Plan | undefined) =>
  status.status !== 'cancelled' && (current === undefined || current.amount > 0);

/** The possible actions on the current plan. One that is no longer sold can only be left or kept. */
export function currentActions(status: BillingStatus, current: Plan | undefined): PlanAction[] {
  if (!isPaying(status, current)) return [];
  const actions = paidActions(status);
  return current ? actions : actions.filter(action => action === 'cancel' || action === 'keep');
}

function paidActions(status: BillingStatus): PlanAction[] {
  const scheduled = status.cancel_at_period_end || status.pending_plan_code !== null;
  // The end of a trial cannot be undone: it is paid for, or it ends.
  if (status.status === 'trialing') return scheduled ? ['convert'] : ['convert', 'cancel'];
  return [scheduled ? 'keep' : 'cancel'];
}
