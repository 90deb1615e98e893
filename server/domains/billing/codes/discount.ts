import { z } from 'zod';
import type { AppliedDiscount, PaymentProvider } from '../../../operation/payment-provider.ts';
import type { PlanRow } from '../../../operation/plan.ts';
import type { Services } from '../../../operation/services.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import { periodStart } from '../plans/period.ts';
import type { Discount } from '../schemas.ts';
import { type BillingCode, normalizeCode } from './code.ts';
import { type Guesser, limitGuesses } from './guesses.ts';
import { codeAlreadyUsed } from './refusals.ts';
import { findCode, findCustomerId, isKnownCode, redeem, release } from './store.ts';

export type DiscountServices = Pick<Services, 'pool' | 'clock' | 'config' | 'rateLimiter'> & {
  payments: PaymentProvider;
};

/**
 * Returns the discount that a code gives a workspace on a plan; null if it gives none, which counts as a wrong code.
 * The code is ours or the payment provider's. Redeems nothing: `redeemDiscount` does that. Throws AppError 409
 * `code_already_used`, 429 `too_many_wrong_codes`, 503 if the provider is unavailable.
 */
export function resolveDiscount(
  services: DiscountServices,
  request: Guesser & { code: string; plan: PlanRow },
): Promise<AppliedDiscount | null> {
  return limitGuesses(services, request, () => lookUpDiscount(services, request));
}

async function lookUpDiscount(
  services: DiscountServices,
  { tenantId, code: given, plan }: Guesser & { code: string; plan: PlanRow },
): Promise<AppliedDiscount | null> {
  const { pool, clock } = services;
  const code = normalizeCode(given);
  const { productCode } = services.config.billing;
  const state = await findCode(pool, { productCode, tenantId, code, at: clock.now() });
  if (state.kind === 'used') throw codeAlreadyUsed();
  if (state.kind === 'usable') {
    const discount = toDiscount(state.code);
    if (discount !== null && isForPlan(state.code, plan)) return discount;
  }
  // The provider is asked about every unusable code, so that a code that exists takes as long as an unknown one. Its
  // answer counts only for codes that do not exist here.
  const customerId = await findCustomerId(pool, tenantId, services.payments.kind);
  const promotion = await services.payments.findPromotion(code, { plan, customerId });
  return state.kind === 'unusable' && !state.known ? promotion : null;
}

/** Returns whether a discount code applies to the plan: the plan has a price, in the currency of the discount. */
export function isForPlan(
  { planCodes, currency }: Pick<BillingCode, 'planCodes' | 'currency'>,
  plan: PlanRow,
): boolean {
  const ofPlan = planCodes.length === 0 || planCodes.includes(plan.planCode);
  return ofPlan && plan.amount > 0 && (currency === null || currency === plan.currency);
}

/** Returns a code of ours as a discount; null for other kinds of codes. */
export function toDiscount(code: BillingCode): AppliedDiscount | null {
  const { kind, value, currency, months, providerPromotionId } = code;
  if (kind !== 'percent' && kind !== 'amount') return null;
  return { code: code.code, kind, value, currency, months, promotionId: providerPromotionId };
}

/**
 * Redeems a discount's code inside the caller's transaction, which must be short because it locks the code's row. Call
 * this BEFORE the provider; if the provider refuses, `releaseDiscount` reverses it. In the other order, the last
 * redemption could be granted twice. Returns the redemption's id; null: the code is the provider's, which counts
 * redemptions itself. Throws AppError 422 `code_not_valid` (used up meanwhile), 409 `code_already_used`.
 */
export async function redeemDiscount(
  db: Queryable,
  request: Guesser & { productCode: string; discount: AppliedDiscount; at: number },
): Promise<string | null> {
  const { discount, ...who } = request;
  const ours = await isKnownCode(db, request.productCode, discount.code);
  if (!ours && discount.promotionId !== null) return null;
  return (await redeem(db, { ...who, code: discount.code })).id;
}

/** Reverses a discount's redemption, because the provider refused it. */
export async function releaseDiscount(db: Queryable, tenantId: string, redemptionId: string | null): Promise<void> {
  if (redemptionId !== null) await release(db, tenantId, redemptionId);
}

/**
 * Returns the price of a period with a discount, in minor units. Rounds down in favor of the customer; never negative.
 * `amount` is the price without it.
 */
export function discountedAmount(amount: number, discount: Pick<AppliedDiscount, 'kind' | 'value'> | null): number {
  if (discount === null) return amount;
  switch (discount.kind) {
    case 'percent':
      return Math.floor((amount * (100 - discount.value)) / 100);
    case 'amount':
      return Math.max(0, amount - discount.value);
  }
}

const StoredDiscount = z.object({
  code: z.string(),
  kind: z.enum(['percent', 'amount']),
  value: z.number().int(),
  currency: z.string().nullable(),
  months: z.number().int().nullable(),
  promotionId: z.string().nullable(),
  /** The plans that the discount is kept for; empty: all. */
  planCodes: z.array(z.string()).default([]),
  /** When it was applied to the subscription, in ms since the epoch; null: it waits for the next subscription. */
  since: z.number().nullable(),
});
/** The content of `subscriptions.discount`. */
export type StoredDiscount = z.output<typeof StoredDiscount>;

/**
 * Returns a discount as stored in `subscriptions.discount`: applied at `since`, or (null) waiting
 * for the next subscription.
 */
export const storeDiscount = (
  discount: AppliedDiscount,
  since: number | null,
  planCodes: readonly string[] = [],
): StoredDiscount => ({ ...discount, since, planCodes: [...planCodes] });

/** Returns the discount in `subscriptions.discount` at `at`; null if the column is empty or the discount's months have passed. */
export function readDiscount(column: unknown, at: number): StoredDiscount | null {
  if (column === null || column === undefined) return null;
  const stored = StoredDiscount.parse(column);
  if (stored.since === null || stored.months === null) return stored;
  return periodStart(stored.since, { interval: 'month', intervalCount: 1 }, stored.months) > at ? stored : null;
}

/**
 * Returns the discount that waits for the next subscription, if it applies to the plan. `subscribe` and `changePlan`
 * apply it without a code.
 */
export function waitingDiscount(column: unknown, plan: PlanRow, at: number): AppliedDiscount | null {
  const stored = readDiscount(column, at);
  if (stored === null || stored.since !== null || !isForPlan(stored, plan)) return null;
  const { since: _since, planCodes: _planCodes, ...discount } = stored;
  return discount;
}

/** Returns the discount of the column for the wire (`BillingStatus.discount`). */
export function viewDiscount(column: unknown, at: number): z.output<typeof Discount> | null {
  const stored = readDiscount(column, at);
  if (stored === null) return null;
  const { code, kind, value, currency, months } = stored;
  return { code, kind, value, currency, months };
}
