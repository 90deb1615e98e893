import type { PlanRow } from '../../../operation/plan.ts';
import type { Services } from '../../../operation/services.ts';
import { type Queryable, transact } from '../../../platform/postgres/transaction.ts';
import { readDiscount } from '../codes/discount.ts';
import { expireDue, readBalances } from '../ledger/post.ts';
import { createManualPayment } from '../payments/manual-payment.ts';
import { priceOf } from '../payments/proration.ts';
import { onboardingPlan } from '../plans/onboarding.ts';
import { nextPeriodStart } from '../plans/period.ts';
import { findPlan } from '../plans/store.ts';
import { returnToOnboarding } from './apply-provider-state.ts';
import { runningDiscount } from './discount.ts';
import { lastPeriod, type Period, recordEvent } from './journal-store.ts';
import { ensureOnboarded } from './onboard.ts';
import { startOnboardingPeriod, startPeriod } from './periods.ts';
import { isDue, lockSubscription, readSubscription, type SubscriptionRow, saveSubscription } from './store.ts';

export type DueBillingServices = Pick<Services, 'pool' | 'clock' | 'config' | 'orchestrator'>;

/**
 * Processes what has become due for one workspace, after any delay: trials that ended, periods that began, credits that
 * expired, each as of its own time and in order. Each is a separate transaction, so that charges never wait for more
 * than one; a concurrent caller finds nothing due. Onboards the workspace if needed. Throws if the database is
 * unavailable.
 */
export async function processDueBilling(services: DueBillingServices, tenantId: string): Promise<void> {
  await ensureOnboarded(services, tenantId);
  let changed = false;
  while (await processNextDue(services, tenantId)) changed = true;
  if (changed) services.orchestrator.creditsChanged(tenantId);
}

/** Processes the first thing that is due. Returns false if nothing is due. */
async function processNextDue(services: DueBillingServices, tenantId: string): Promise<boolean> {
  const { pool, clock } = services;
  const due = dueAt(await readSubscription(pool, tenantId), (await readBalances(pool, tenantId)).nextExpiryAt);
  if (due > clock.now()) return false;
  return await transact(pool, async db => {
    const row = await lockSubscription(db, tenantId);
    const { nextExpiryAt } = await readBalances(db, tenantId);
    const at = dueAt(row, nextExpiryAt);
    if (at > clock.now()) return false;
    // Credits that expire at the end of a period are removed before the next period grants its own.
    if (nextExpiryAt !== null && nextExpiryAt <= at) await expireDue(db, tenantId, at);
    else await endPeriod(db, services.config.billing, row, at);
    return true;
  });
}

function dueAt(row: SubscriptionRow, nextExpiryAt: number | null): number {
  const expiry = nextExpiryAt ?? Number.POSITIVE_INFINITY;
  return isDue(row, row.period.to) ? Math.min(row.period.to, expiry) : expiry;
}

type Billing = { productCode: string; plansFile: string | null };

/** Processes the end of a period or a trial that no provider manages. */
async function endPeriod(db: Queryable, billing: Billing, row: SubscriptionRow, at: number): Promise<void> {
  const { tenantId } = row;
  if (row.status === 'incomplete') {
    await waitOn(db, billing, row, at);
  } else if (row.status === 'trialing') {
    await recordEvent(db, { tenantId, kind: 'trial_ended', data: { plan_code: row.planCode }, at });
    await returnToOnboarding(db, billing, row, at);
  } else if (row.subscriptionId !== null && row.cancelAtPeriodEnd) {
    await recordEvent(db, { tenantId, kind: 'cancelled', data: { plan_code: row.planCode }, at });
    await returnToOnboarding(db, billing, row, at);
  } else {
    await renew(db, billing, row, at);
  }
}

/** Continues to wait for the payment of another plan, on the onboarding plan, after the present plan has ended. */
async function waitOn(db: Queryable, billing: Billing, row: SubscriptionRow, at: number): Promise<void> {
  const plan = await onboardingPlan(db, { ...billing, productCode: row.productCode }, at);
  const period = await nextOnboardingPeriod(db, row.tenantId, plan, at);
  await saveSubscription(db, { ...row, planCode: plan.planCode, period }, at);
}

/** Starts the onboarding period after the one that ends at `at`, counted from the day on which the first one began. */
async function nextOnboardingPeriod(
  db: Queryable,
  tenantId: string,
  plan: PlanRow,
  at: number,
): Promise<{ from: number; to: number }> {
  const last = await lastPeriod(db, tenantId, null);
  if (last === null || last.to !== at || last.planCode !== plan.planCode) {
    const { from, to } = await startOnboardingPeriod(db, tenantId, plan, at);
    return { from, to };
  }
  const period: Period = { ...last, from: at, to: nextPeriodStart(last.anchor, plan, at) };
  await startPeriod(db, tenantId, plan, period);
  return { from: period.from, to: period.to };
}

async function renew(db: Queryable, billing: Billing, row: SubscriptionRow, at: number): Promise<void> {
  const { tenantId, productCode } = row;
  const onboarding = await onboardingPlan(db, { ...billing, productCode }, at);
  const planCode = row.pendingPlanCode ?? row.planCode;
  const plan = await findPlan(db, productCode, { plan_code: planCode });
  if (row.subscriptionId === null || plan === null || plan.planCode === onboarding.planCode) {
    if (row.subscriptionId !== null) return void (await returnToOnboarding(db, billing, row, at));
    const period = await nextOnboardingPeriod(db, tenantId, onboarding, at);
    await saveSubscription(db, { ...row, planCode: onboarding.planCode, period }, at);
    return;
  }
  const last = await lastPeriod(db, tenantId, row.subscriptionId);
  const anchor = last?.anchor ?? row.period.from;
  const to = nextPeriodStart(anchor, plan, at);
  const amount = priceOf(plan, runningDiscount(row, at));
  const paymentId = await createManualPayment(db, {
    tenantId,
    kind: 'subscription',
    amount,
    currency: plan.currency,
    credits: plan.includedCredits,
    description: `${plan.productName}, from ${new Date(at).toISOString().slice(0, 10)}`,
    requestedBy: null,
    at,
  });
  const period: Period = { planCode, subscriptionId: row.subscriptionId, from: at, to, anchor, amount, paymentId };
  await startPeriod(db, tenantId, plan, period);
  if (planCode !== row.planCode) {
    const data = { from: row.planCode, to: planCode };
    await recordEvent(db, { tenantId, kind: 'plan_changed', data, at });
  }
  const renewed = {
    ...row,
    planCode,
    pendingPlanCode: null,
    discount: readDiscount(row.discount, at),
    period: { from: at, to },
  };
  await saveSubscription(db, renewed, at);
}
