import { isoTimestamp } from '../../../platform/clock.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import { grantCredits } from '../ledger/post.ts';
import { nextPeriodStart } from '../plans/period.ts';
import type { PlanRow } from '../plans/plan.ts';
import { findOnboardingPeriod, notePeriod, type Period, periodReference } from './journal.ts';

/** Begins a period: writes it down and grants what it includes, which expires at its end. Again: nothing. */
export async function beginPeriod(db: Queryable, tenantId: string, plan: PlanRow, period: Period): Promise<void> {
  await notePeriod(db, tenantId, period, period.from);
  await grantCredits(db, {
    tenantId,
    account: 'included',
    amount: plan.includedCredits,
    expiresAt: period.to,
    source: 'period',
    reference: periodReference(tenantId, period),
    note: `${plan.productName}: ${isoTimestamp(period.from).slice(0, 10)} to ${isoTimestamp(period.to).slice(0, 10)}`,
    at: period.from,
  });
}

/**
 * Begins a period of the onboarding plan at `at`, or goes on with the one that was left for a trial or a subscription and has not
 * ended: its credits were granted then, and stay what is left of them.
 */
export async function beginOnboardingPeriod(
  db: Queryable,
  tenantId: string,
  plan: PlanRow,
  at: number,
): Promise<Period> {
  const left = await findOnboardingPeriod(db, tenantId, at);
  if (left !== null && left.planCode === plan.planCode) return left;
  const period: Period = {
    planCode: plan.planCode,
    subscriptionId: null,
    from: at,
    to: nextPeriodStart(at, plan, at),
    anchor: at,
    paymentId: null,
  };
  await beginPeriod(db, tenantId, plan, period);
  return period;
}
