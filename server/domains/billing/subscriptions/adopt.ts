import type { ProviderSubscription } from '../../../contract/payment-provider.ts';
import type { PlanRow } from '../../../contract/plan.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import { pendingPayments } from '../payments/store.ts';
import { findPlan } from '../plans/store.ts';
import { lastPeriod, noteEvent, type Period } from './journal-store.ts';
import { onboardingPlan } from './onboard.ts';
import { beginOnboardingPeriod, beginPeriod, endPeriodEarly } from './periods.ts';
import { share } from './proration.ts';
import { type SubscriptionRow, saveSubscription } from './store.ts';
import { endTrialCredits, grantTrialCredits } from './trial-credits.ts';

export type Adoption = {
  db: Queryable;
  billing: { productCode: string; plansFile: string | null };
  provider: SubscriptionRow['provider'];
  at: number;
  /** What was charged for the period that this begins, and the payment that was asked for it; the manual provider's. */
  charged?: { amount: number; paymentId: string | null };
};

/**
 * Makes a subscription what the provider says it is: the one place where plans, trials and periods begin and end but for the
 * clock (`settle.ts`). `row` is locked; the same state a second time changes nothing. Returns what was saved.
 */
export async function adopt(
  adoption: Adoption,
  row: SubscriptionRow,
  next: ProviderSubscription,
): Promise<SubscriptionRow> {
  switch (next.status) {
    case 'cancelled':
      return row.subscriptionId === next.subscriptionId ? await leave(adoption, row, next) : row;
    case 'incomplete':
      return await wait(adoption, row, next);
    case 'trialing':
      return await beginTrial(adoption, row, next, await planNamed(adoption, row, next.planCode));
    case 'active':
    case 'past_due':
      return await run(adoption, row, next, await planNamed(adoption, row, next.planCode));
  }
}

async function planNamed({ db }: Adoption, { productCode }: SubscriptionRow, planCode: string): Promise<PlanRow> {
  const plan = await findPlan(db, productCode, { plan_code: planCode });
  if (plan === null) throw new Error(`The provider names the plan ${planCode}, which ${productCode} does not have.`);
  return plan;
}

/** What is taken over as the provider says it. */
const identity = ({ provider }: Adoption, row: SubscriptionRow, next: ProviderSubscription) => ({
  provider,
  customerId: next.customerId ?? row.customerId,
  subscriptionId: next.subscriptionId,
  version: Math.max(row.version, next.version),
});

/** It has ended: back to the onboarding plan. */
async function leave(adoption: Adoption, row: SubscriptionRow, next: ProviderSubscription): Promise<SubscriptionRow> {
  const { version, customerId } = identity(adoption, row, next);
  return await adoptEnd(adoption.db, adoption.billing, { ...row, version, customerId }, adoption.at);
}

/** Ends a subscription at once, a trial with its credits, whoever says so. */
export async function adoptEnd(
  db: Queryable,
  billing: Adoption['billing'],
  row: SubscriptionRow,
  at: number,
): Promise<SubscriptionRow> {
  if (row.status === 'trialing') await endTrialCredits(db, row.tenantId, at);
  const back = await returnToOnboarding(db, billing, row, at);
  await noteEvent(db, { tenantId: row.tenantId, kind: 'cancelled', data: { plan_code: row.planCode }, at });
  return back;
}

/** Puts a subscription on the onboarding plan. */
export async function returnToOnboarding(
  db: Queryable,
  billing: Adoption['billing'],
  row: SubscriptionRow,
  at: number,
): Promise<SubscriptionRow> {
  const plan = await onboardingPlan(db, { ...billing, productCode: row.productCode }, at);
  const { from, to } = await beginOnboardingPeriod(db, row.tenantId, plan, at);
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
    // One that waits for the next subscription goes on waiting.
    discount: row.discount?.since === null ? row.discount : null,
  };
  return await saveSubscription(db, back, at);
}

/** Nothing was paid yet: everything stays as it is, and the plan that was asked for waits. */
async function wait(adoption: Adoption, row: SubscriptionRow, next: ProviderSubscription): Promise<SubscriptionRow> {
  const waiting: SubscriptionRow = {
    ...row,
    ...identity(adoption, row, next),
    status: 'incomplete',
    cancelAtPeriodEnd: false,
    pendingPlanCode: next.planCode,
  };
  return await saveSubscription(adoption.db, waiting, adoption.at);
}

async function beginTrial(
  adoption: Adoption,
  row: SubscriptionRow,
  next: ProviderSubscription,
  plan: PlanRow,
): Promise<SubscriptionRow> {
  const { db, at } = adoption;
  const endsAt = next.trialEndsAt ?? next.period.to;
  await grantTrialCredits(db, row, plan, endsAt, at);
  if (row.status !== 'trialing') {
    const data = { plan_code: plan.planCode, ends_at: endsAt };
    await noteEvent(db, { tenantId: row.tenantId, kind: 'trial_started', data, at });
  }
  const trialing: SubscriptionRow = {
    ...row,
    ...identity(adoption, row, next),
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

/** It runs, paid or overdue: a trial has ended, a period or another plan may have begun. */
async function run(
  adoption: Adoption,
  row: SubscriptionRow,
  next: ProviderSubscription,
  plan: PlanRow,
): Promise<SubscriptionRow> {
  const { db, at } = adoption;
  const { tenantId } = row;
  const ongoing =
    row.subscriptionId === next.subscriptionId && row.status !== 'trialing' && row.status !== 'incomplete';
  const trialLeft = row.trialEndsAt !== null && row.trialEndsAt > at;
  if (trialLeft) await endTrialCredits(db, tenantId, at);
  if (ongoing) await changePeriod(adoption, row, next, plan);
  else await firstPeriod(adoption, row, next, plan);
  const running: SubscriptionRow = {
    ...row,
    ...identity(adoption, row, next),
    planCode: plan.planCode,
    status: next.status,
    trialEndsAt: trialLeft ? at : row.trialEndsAt,
    period: next.period,
    cancelAtPeriodEnd: next.cancelAtPeriodEnd,
    pendingPlanCode: next.pendingPlanCode,
  };
  return await saveSubscription(db, running, at);
}

const chargedOf = ({ charged }: Adoption, plan: PlanRow) => charged ?? { amount: plan.amount, paymentId: null };

async function firstPeriod(
  adoption: Adoption,
  row: SubscriptionRow,
  next: ProviderSubscription,
  plan: PlanRow,
): Promise<void> {
  const { db, at } = adoption;
  await noteEvent(db, { tenantId: row.tenantId, kind: 'subscribed', data: { plan_code: plan.planCode }, at });
  if (next.status !== 'active') return;
  await beginPeriod(db, row.tenantId, plan, whole(adoption, next, plan));
}

const whole = (adoption: Adoption, next: ProviderSubscription, plan: PlanRow): Period => ({
  planCode: plan.planCode,
  subscriptionId: next.subscriptionId,
  ...next.period,
  anchor: next.period.from,
  ...chargedOf(adoption, plan),
});

/**
 * A subscription that ran already: a new period, another plan for the rest of this one, or nothing new. Credits follow the money:
 * of the plan that is left, what belongs to the time that is left goes back; of the new one, as much is granted, and what is still
 * to be paid of it when it is.
 */
async function changePeriod(
  adoption: Adoption,
  row: SubscriptionRow,
  next: ProviderSubscription,
  plan: PlanRow,
): Promise<void> {
  const { db } = adoption;
  const { tenantId } = row;
  const { from, to } = next.period;
  const begun = from !== row.period.from;
  const changed = plan.planCode !== row.planCode;
  const last = await lastPeriod(db, tenantId, row.subscriptionId);
  // Of two changes in one millisecond the second counts as one later: each has its own reference in the ledger.
  const at = last === null ? adoption.at : Math.max(adoption.at, last.from + 1);
  let carried = 0;
  const owed = last === null ? [] : await pendingPayments(db, tenantId, last.awaits ?? []);
  if (changed) {
    const data = { from: row.planCode, to: plan.planCode };
    await noteEvent(db, { tenantId, kind: 'plan_changed', data, at });
    if (last !== null) carried = await endPeriodEarly(db, tenantId, last, begun ? from : at);
  }
  if (next.status !== 'active') return;
  if (begun || last === null) {
    await beginPeriod(db, tenantId, plan, whole(adoption, next, plan), { carried, owed });
  } else if (changed) {
    const rest: Period = { ...whole(adoption, next, plan), from: at, anchor: last.anchor };
    await beginPeriod(db, tenantId, plan, rest, {
      credits: share(plan.includedCredits, to - at, to - from),
      carried,
      owed,
    });
  } else if (row.status === 'past_due') {
    await beginPeriod(db, tenantId, plan, whole(adoption, next, plan));
  }
}
