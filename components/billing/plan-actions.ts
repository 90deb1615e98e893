import type { BillingStatus, Plan } from './wire.ts';

/** The possible actions on a plan in the workspace's current state. */
export type PlanAction = 'trial' | 'subscribe' | 'change' | 'convert' | 'cancel' | 'keep';

/** Returns the actions on a plan's card, the most likely first. `current` is the current plan; undefined if it is no longer sold. */
export function planActions(plan: Plan, status: BillingStatus, current: Plan | undefined): PlanAction[] {
  if (status.status === 'incomplete') return waitingActions(plan, status);
  if (plan.plan_code === status.plan_code && status.status !== 'cancelled') return currentActions(status, current);
  const paying = isPaying(status, current);
  // Choosing a free plan means ending the paid plan.
  if (plan.amount === 0) return paying && !status.cancel_at_period_end ? ['cancel'] : [];
  if (!plan.self_serve_onboarding || status.pending_plan_code === plan.plan_code) return [];
  // A trial is followed by a subscription; only a paid plan can be changed.
  if (paying) return status.status === 'trialing' ? ['subscribe'] : ['change'];
  return plan.trial_enabled && status.trial.available ? ['trial', 'subscribe'] : ['subscribe'];
}

/**
 * Returns the actions while the first payment of a plan, or the card of a trial, waits for confirmation: confirm it, discard it, or choose
 * another plan.
 */
function waitingActions(plan: Plan, status: BillingStatus): PlanAction[] {
  const orders: PlanAction[] =
    plan.trial_enabled && status.trial.started_at === null ? ['trial', 'subscribe'] : ['subscribe'];
  if (plan.plan_code === status.pending_plan_code) return [...orders, 'cancel'];
  return plan.amount > 0 && plan.self_serve_onboarding && plan.plan_code !== status.plan_code ? orders : [];
}

/** A plan that is no longer sold is a paid one; otherwise the operator would have removed it from the catalog. */
const isPaying = (status: BillingStatus, current: Plan | undefined) =>
  status.status !== 'cancelled' && (current === undefined || current.amount > 0);

/** Returns the actions on the current plan. A plan that is no longer sold can only be cancelled or kept. */
export function currentActions(status: BillingStatus, current: Plan | undefined): PlanAction[] {
  if (!isPaying(status, current)) return [];
  const actions = paidActions(status);
  return current ? actions : actions.filter(action => action === 'cancel' || action === 'keep');
}

function paidActions(status: BillingStatus): PlanAction[] {
  const scheduled = status.cancel_at_period_end || status.pending_plan_code !== null;
  // The end of a trial cannot be revoked: the trial is paid for, or it ends.
  if (status.status === 'trialing') return scheduled ? ['convert'] : ['convert', 'cancel'];
  return [scheduled ? 'keep' : 'cancel'];
}
