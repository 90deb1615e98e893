import type { PlanRow } from '../../../operation/plan.ts';
import { isoTimestamp } from '../../../platform/clock.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import { grantCredits, reverseGrant } from '../ledger/post.ts';
import { findGranted } from '../ledger/store.ts';
import { share } from '../payments/proration.ts';
import { type PaymentRow, pendingPayments, setPaymentCredits } from '../payments/store.ts';
import { nextPeriodStart } from '../plans/period.ts';
import {
  lastPeriod,
  notePeriod,
  type Period,
  paidReference,
  periodAfter,
  periodReference,
  periodsAwaiting,
} from './journal-store.ts';

const day = (ms: number) => isoTimestamp(ms).slice(0, 10);

/**
 * Starts a period: records it, and grants `credits` until its end. If its payment, or one of `owed`, is not confirmed
 * yet, it grants at most `carried`, the credits that were paid for with the old plan; the confirmation grants the rest.
 * Repeating it changes nothing.
 */
export async function startPeriod(
  db: Queryable,
  tenantId: string,
  plan: PlanRow,
  period: Period,
  {
    credits = plan.includedCredits,
    carried = 0,
    owed = [],
  }: { credits?: number; carried?: number; owed?: readonly string[] } = {},
): Promise<void> {
  const { paymentId } = period;
  const awaits = [...(paymentId === null ? [] : [paymentId]), ...owed];
  const now = awaits.length === 0 ? credits : Math.min(credits, carried);
  await notePeriod(db, tenantId, awaits.length === 0 ? period : { ...period, credits: credits - now, awaits });
  if (paymentId !== null) await setPaymentCredits(db, { tenantId, id: paymentId, credits: credits - now });
  await grantCredits(db, {
    tenantId,
    account: 'included',
    amount: now,
    expiresAt: period.to,
    source: 'period',
    reference: periodReference(tenantId, period),
    note: `${plan.productName}, ${day(period.from)} to ${day(period.to)}`,
    at: period.from,
  });
}

/**
 * Grants the credits of a confirmed payment, once, to each period that awaited it and awaits no other. If another plan
 * has since replaced a part of the period, that part was credited in money and grants no credits. Credits for a period
 * that has ended expire immediately.
 */
export async function grantPaidPeriods(
  db: Queryable,
  { tenantId, id, description }: Pick<PaymentRow, 'tenantId' | 'id' | 'description'>,
  at: number,
): Promise<void> {
  for (const period of await periodsAwaiting(db, tenantId, id)) {
    const { credits = 0, awaits = [], from, to } = period;
    if ((await pendingPayments(db, tenantId, awaits)).length > 0) continue;
    const next = await periodAfter(db, tenantId, period);
    const left = next === null ? 0 : Math.max(0, to - next.from);
    await grantCredits(db, {
      tenantId,
      account: 'included',
      amount: credits - share(credits, left, to - from),
      expiresAt: to,
      source: 'period',
      reference: paidReference(tenantId, period),
      note: description,
      at,
    });
  }
}

/**
 * Reverses the unspent part of a period's credits for the time after `at`: that time is credited in money, or was never
 * paid for. Returns the reversed microcredits.
 */
export async function endPeriodEarly(db: Queryable, tenantId: string, period: Period, at: number): Promise<number> {
  let taken = 0;
  for (const reference of [periodReference(tenantId, period), paidReference(tenantId, period)])
    taken += await reverseGrantsAfter(db, tenantId, { ...period, reference }, at);
  return taken;
}

async function reverseGrantsAfter(
  db: Queryable,
  tenantId: string,
  { reference, ...period }: Period & { reference: string },
  at: number,
): Promise<number> {
  const granted = await findGranted(db, tenantId, reference);
  const amount = share(granted, period.to - at, period.to - period.from);
  if (amount === 0) return 0;
  const note = 'The unused time of a plan that was left';
  return await reverseGrant(db, { tenantId, reference, amount, kindReference: `end:${reference}`, note, at });
}

/**
 * Starts a period of the onboarding plan at `at`. If the period that was interrupted by a trial or a subscription has
 * not ended, it continues instead: its credits were already granted, and the remaining ones still exist. So switching
 * back and forth never grants them twice.
 */
export async function startOnboardingPeriod(
  db: Queryable,
  tenantId: string,
  plan: PlanRow,
  at: number,
): Promise<Period> {
  const left = await lastPeriod(db, tenantId, null);
  if (left !== null && left.to > at && left.planCode === plan.planCode) return left;
  const period: Period = {
    planCode: plan.planCode,
    subscriptionId: null,
    from: at,
    to: nextPeriodStart(at, plan, at),
    anchor: at,
    amount: 0,
    paymentId: null,
  };
  await startPeriod(db, tenantId, plan, period);
  return period;
}
