import { isoTimestamp } from '../../../platform/clock.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import { grantCredits, takeBack } from '../ledger/post.ts';
import { nextPeriodStart } from '../plans/period.ts';
import type { PlanRow } from '../plans/plan.ts';
import { lastPeriod, notePeriod, type Period, periodReference } from './journal.ts';
import { share } from './proration.ts';

const day = (ms: number) => isoTimestamp(ms).slice(0, 10);

/** Begins a period: writes it down and grants `credits`, which expire at its end. Again: nothing. */
export async function beginPeriod(
  db: Queryable,
  tenantId: string,
  plan: PlanRow,
  period: Period,
  credits: number = plan.includedCredits,
): Promise<void> {
  await notePeriod(db, tenantId, period);
  await grantCredits(db, {
    tenantId,
    account: 'included',
    amount: credits,
    expiresAt: period.to,
    source: 'period',
    reference: periodReference(tenantId, period),
    note: `${plan.productName}, ${day(period.from)} to ${day(period.to)}`,
    at: period.from,
  });
}

/**
 * Takes back the part of a period's credits that belongs to the time after `at`, as far as it was not spent: where that time is
 * credited in money, or was never paid for.
 */
export async function endPeriodEarly(db: Queryable, tenantId: string, period: Period, at: number): Promise<void> {
  const reference = periodReference(tenantId, period);
  const { rows } = await db.query<{ amount: string }>(
    'SELECT amount FROM credit_grants WHERE tenant_id = $1 AND reference = $2',
    [tenantId, reference],
  );
  const granted = Number(rows[0]?.amount ?? 0);
  const amount = share(granted, period.to - at, period.to - period.from);
  if (amount === 0) return;
  const note = 'The unused time of a plan that was left';
  await takeBack(db, { tenantId, reference, amount, kindReference: `end:${reference}`, note, at });
}

/**
 * Begins a period of the onboarding plan at `at`, or goes on with the one that was left for a trial or a subscription and has not
 * ended: its credits were granted then, and what is left of them is still there. So nobody gets them twice by coming and going.
 */
export async function beginOnboardingPeriod(
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
  await beginPeriod(db, tenantId, plan, period);
  return period;
}
