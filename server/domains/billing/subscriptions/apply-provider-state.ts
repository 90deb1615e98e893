import type { ProviderSubscription } from '../../../operation/payment-provider.ts';
import type { PlanRow } from '../../../operation/plan.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import { share } from '../payments/proration.ts';
import { pendingPayments } from '../payments/store.ts';
import { onboardingPlan } from '../plans/onboarding.ts';
import { findPlan } from '../plans/store.ts';
import { lastPeriod, type Period, recordEvent } from './journal-store.ts';
import { endPeriodEarly, startOnboardingPeriod, startPeriod } from './periods.ts';
import { type SubscriptionRow, saveSubscription } from './store.ts';
import { endTrialCredits, grantTrialCredits } from './trial-credits.ts';

export type ProviderStateContext = {
  db: Queryable;
  billing: { productCode: string; plansFile: string | null };
  provider: SubscriptionRow['provider'];
  at: number;
  /** The charge for the period that starts, and its payment; only for the manual provider. */
  charged?: { amount: number; paymentId: string | null };
};

/**
 * Updates a subscription to the provider's state. Besides the clock (`process-due.ts`), only this starts and ends
 * plans, trials and periods. `row` must be locked; applying the same state again changes nothing. Returns the saved
 * row.
 */
export async function applyProviderState(
  context: ProviderStateContext,
  row: SubscriptionRow,
  next: ProviderSubscription,
): Promise<SubscriptionRow> {
  switch (next.status) {
    case 'cancelled':
      return row.subscriptionId === next.subscriptionId ? await endSubscription(context, row, next) : row;
    case 'incomplete':
      return await waitForPayment(context, row, next);
    case 'trialing':
      return await startTrialPeriod(context, row, next, await planNamed(context, row, next.planCode));
    case 'active':
    case 'past_due':
      return await applyRunning(context, row, next, await planNamed(context, row, next.planCode));
  }
}

async function planNamed(
  { db }: ProviderStateContext,
  { productCode }: SubscriptionRow,
  planCode: string,
): Promise<PlanRow> {
  const plan = await findPlan(db, productCode, { plan_code: planCode });
  if (plan === null) throw new Error(`The provider names the plan ${planCode}, which ${productCode} does not have.`);
  return plan;
}

/** Fields that are taken from the provider unchanged. */
const identity = ({ provider }: ProviderStateContext, row: SubscriptionRow, next: ProviderSubscription) => ({
  provider,
  customerId: next.customerId ?? row.customerId,
  subscriptionId: next.subscriptionId,
  version: Math.max(row.version, next.version),
});

/** Returns an ended subscription to the onboarding plan. */
async function endSubscription(
  context: ProviderStateContext,
  row: SubscriptionRow,
  next: ProviderSubscription,
): Promise<SubscriptionRow> {
  const { version, customerId } = identity(context, row, next);
  return await applyProviderEnd(context.db, context.billing, { ...row, version, customerId }, context.at);
}

/** Ends a subscription immediately, and a trial with its credits. */
export async function applyProviderEnd(
  db: Queryable,
  billing: ProviderStateContext['billing'],
  row: SubscriptionRow,
  at: number,
): Promise<SubscriptionRow> {
  if (row.status === 'trialing') await endTrialCredits(db, row.tenantId, at);
  const back = await returnToOnboarding(db, billing, row, at);
  await recordEvent(db, { tenantId: row.tenantId, kind: 'cancelled', data: { plan_code: row.planCode }, at });
  return back;
}

/** Puts a subscription on the onboarding plan. */
export async function returnToOnboarding(
  db: Queryable,
  billing: ProviderStateContext['billing'],
  row: SubscriptionRow,
  at: number,
): Promise<SubscriptionRow> {
  const plan = await onboardingPlan(db, { ...billing, productCode: row.productCode }, at);
  const { from, to } = await startOnboardingPeriod(db, row.tenantId, plan, at);
  const back: SubscriptionRow = {
    ...row,
    planCode: plan.planCode,
    status: 'active',
    subscriptionId: null,
    trialEndsAt:
      row.status === 'trialing' && row.trialEndsAt !== null ? Math.min(row.trialEndsAt, at) : row.trialEndsAt,
    period: { from, to },
    cancelAtPeriodEnd: false,
    pendingPlanCode: null,
    // A discount that waits for the next subscription is kept.
    discount: row.discount?.since === null ? row.discount : null,
  };
  return await saveSubscription(db, back, at);
}

/** Keeps the present plan until the first payment: the requested plan waits for it. */
async function waitForPayment(
  context: ProviderStateContext,
  row: SubscriptionRow,
  next: ProviderSubscription,
): Promise<SubscriptionRow> {
  const waiting: SubscriptionRow = {
    ...row,
    ...identity(context, row, next),
    status: 'incomplete',
    cancelAtPeriodEnd: false,
    pendingPlanCode: next.planCode,
  };
  return await saveSubscription(context.db, waiting, context.at);
}

async function startTrialPeriod(
  context: ProviderStateContext,
  row: SubscriptionRow,
  next: ProviderSubscription,
  plan: PlanRow,
): Promise<SubscriptionRow> {
  const { db, at } = context;
  const endsAt = next.trialEndsAt ?? next.period.to;
  await grantTrialCredits(db, row, plan, endsAt, at);
  if (row.status !== 'trialing') {
    const data = { plan_code: plan.planCode, ends_at: endsAt };
    await recordEvent(db, { tenantId: row.tenantId, kind: 'trial_started', data, at });
  }
  const trialing: SubscriptionRow = {
    ...row,
    ...identity(context, row, next),
    planCode: plan.planCode,
    status: 'trialing',
    trialPlanCode: plan.planCode,
    trialStartedAt: row.trialStartedAt ?? at,
    trialEndsAt: endsAt,
    period: next.period,
    cancelAtPeriodEnd: next.cancelAtPeriodEnd,
    pendingPlanCode: next.pendingPlanCode,
  };
  return await saveSubscription(db, trialing, at);
}

/** Applies the state of a running subscription, paid or overdue: a trial may have ended, a period or another plan may have started. */
async function applyRunning(
  context: ProviderStateContext,
  row: SubscriptionRow,
  next: ProviderSubscription,
  plan: PlanRow,
): Promise<SubscriptionRow> {
  const { db, at } = context;
  const { tenantId } = row;
  const ongoing =
    row.subscriptionId === next.subscriptionId && row.status !== 'trialing' && row.status !== 'incomplete';
  const trialLeft = row.trialEndsAt !== null && row.trialEndsAt > at;
  if (trialLeft) await endTrialCredits(db, tenantId, at);
  if (ongoing) await changePeriod(context, row, next, plan);
  else await firstPeriod(context, row, next, plan);
  const running: SubscriptionRow = {
    ...row,
    ...identity(context, row, next),
    planCode: plan.planCode,
    status: next.status,
    trialEndsAt: trialLeft ? at : row.trialEndsAt,
    period: next.period,
    cancelAtPeriodEnd: next.cancelAtPeriodEnd,
    pendingPlanCode: next.pendingPlanCode,
  };
  return await saveSubscription(db, running, at);
}

const chargedOf = ({ charged }: ProviderStateContext, plan: PlanRow) =>
  charged ?? { amount: plan.amount, paymentId: null };

async function firstPeriod(
  context: ProviderStateContext,
  row: SubscriptionRow,
  next: ProviderSubscription,
  plan: PlanRow,
): Promise<void> {
  const { db, at } = context;
  await recordEvent(db, { tenantId: row.tenantId, kind: 'subscribed', data: { plan_code: plan.planCode }, at });
  if (next.status !== 'active') return;
  await startPeriod(db, row.tenantId, plan, wholePeriod(context, next, plan));
}

const wholePeriod = (context: ProviderStateContext, next: ProviderSubscription, plan: PlanRow): Period => ({
  planCode: plan.planCode,
  subscriptionId: next.subscriptionId,
  ...next.period,
  anchor: next.period.from,
  ...chargedOf(context, plan),
});

/**
 * Applies a new period, or another plan for the rest of this one, to a subscription that was already running; does
 * nothing if neither is new. Credits follow the money: those of the old plan for the remaining time are reversed, and
 * those of the new plan are granted. Credits that are not paid for yet are granted when their payment is confirmed.
 */
async function changePeriod(
  context: ProviderStateContext,
  row: SubscriptionRow,
  next: ProviderSubscription,
  plan: PlanRow,
): Promise<void> {
  const { db } = context;
  const { tenantId } = row;
  const { from, to } = next.period;
  const begun = from !== row.period.from;
  const changed = plan.planCode !== row.planCode;
  const last = await lastPeriod(db, tenantId, row.subscriptionId);
  // The second of two changes within one millisecond counts as one millisecond later: each needs its own reference in
  // the ledger.
  const at = last === null ? context.at : Math.max(context.at, last.from + 1);
  let carried = 0;
  const pendingIds = last === null ? [] : await pendingPayments(db, tenantId, last.awaits ?? []);
  if (changed) {
    const data = { from: row.planCode, to: plan.planCode };
    await recordEvent(db, { tenantId, kind: 'plan_changed', data, at });
    if (last !== null) carried = await endPeriodEarly(db, tenantId, last, begun ? from : at);
  }
  if (next.status !== 'active') return;
  if (begun || last === null) {
    await startPeriod(db, tenantId, plan, wholePeriod(context, next, plan), { carried, owed: pendingIds });
  } else if (changed) {
    const rest: Period = { ...wholePeriod(context, next, plan), from: at, anchor: last.anchor };
    await startPeriod(db, tenantId, plan, rest, {
      credits: share(plan.includedCredits, to - at, to - from),
      carried,
      owed: pendingIds,
    });
  } else if (row.status === 'past_due') {
    await startPeriod(db, tenantId, plan, wholePeriod(context, next, plan));
  }
}
