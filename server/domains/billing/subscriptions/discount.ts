import type { Context } from '../../../operation/context.ts';
import type { AppliedDiscount } from '../../../operation/payment-provider.ts';
import type { PlanRow } from '../../../operation/plan.ts';
import { transact } from '../../../platform/postgres/transaction.ts';
import {
  readDiscount,
  redeemDiscount,
  releaseDiscount,
  resolveDiscount,
  type StoredDiscount,
  waitingDiscount,
} from '../codes/discount.ts';
import { codeNotValid } from '../codes/refusals.ts';
import type { SubscriptionRow } from './store.ts';

/**
 * Runs `work` with the discount that `code` gives on `plan` (undefined: no code). The code is redeemed first, so that
 * its last use is not granted twice, and released if the work fails. AppErrors of codes/discount.ts.
 */
export async function withDiscount<T>(
  { principal, services }: Context,
  plan: PlanRow,
  code: string | undefined,
  work: (discount: AppliedDiscount | null) => Promise<T>,
): Promise<T> {
  if (code === undefined) return await work(null);
  const { tenantId, userId } = principal;
  const discount = await resolveDiscount(services, { tenantId, userId, code, plan });
  if (discount === null) throw codeNotValid();
  const { productCode } = services.config.billing;
  const request = { tenantId, userId, productCode, discount, at: services.clock.now() };
  const redemption = await transact(services.pool, db => redeemDiscount(db, request));
  try {
    return await work(discount);
  } catch (error) {
    await transact(services.pool, db => releaseDiscount(db, tenantId, redemption));
    throw error;
  }
}

/** Returns the discount of a new subscription to `plan`: that of the code, else one that the workspace applied before. */
export const discountFor = (
  row: SubscriptionRow,
  plan: PlanRow,
  given: AppliedDiscount | null,
  at: number,
): AppliedDiscount | null => given ?? waitingDiscount(row.discount, plan, at);

/**
 * Returns the discount after a change of plan: that of the code, else the current one unless it is in another
 * currency, else one that is kept for that plan.
 */
export function discountOn(
  row: SubscriptionRow,
  plan: PlanRow,
  given: AppliedDiscount | null,
  at: number,
): AppliedDiscount | null {
  const running = runningDiscount(row, at);
  const kept = running === null || (running.currency !== null && running.currency !== plan.currency) ? null : running;
  return given ?? kept ?? waitingDiscount(row.discount, plan, at);
}

/** Returns the discount that applies to the subscription at `at`; not one that is kept for the next subscription. */
export function runningDiscount(row: SubscriptionRow, at: number): StoredDiscount | null {
  const stored = readDiscount(row.discount, at);
  return stored === null || stored.since === null ? null : stored;
}
