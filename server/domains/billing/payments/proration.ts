import type { AppliedDiscount } from '../../../operation/payment-provider.ts';
import type { PlanRow } from '../../../operation/plan.ts';
import { discountedAmount } from '../codes/discount.ts';

/**
 * Returns the share of `amount` for `part` of `whole` (ms), rounded down; money in minor units, credits in
 * microcredits. Computed exactly: the product of both exceeds the range of a number.
 */
export function share(amount: number, part: number, whole: number): number {
  if (whole <= 0 || part <= 0) return 0;
  if (part >= whole) return amount;
  return Number((BigInt(amount) * BigInt(part)) / BigInt(whole));
}

/**
 * Returns the price of a period of a plan with a discount, in minor units; a discount in another currency does not
 * count.
 */
export function priceOf(
  { amount, currency }: Pick<PlanRow, 'amount' | 'currency'>,
  discount: Pick<AppliedDiscount, 'kind' | 'value' | 'currency'> | null,
): number {
  const applies = discount !== null && (discount.kind === 'percent' || discount.currency === currency);
  return applies ? discountedAmount(amount, discount) : amount;
}

/** Days per interval, with months of equal length, to decide which of two prices is higher. */
const days = { day: 1, week: 7, month: 30, year: 365 } as const;

/** Returns whether a plan costs more per day. An upgrade takes effect now, any other change at the period's end. */
export function isUpgrade(from: PlanRow, to: PlanRow): boolean {
  return (
    BigInt(to.amount) * BigInt(days[from.interval] * from.intervalCount) >
    BigInt(from.amount) * BigInt(days[to.interval] * to.intervalCount)
  );
}

/**
 * Returns whether a change of plan keeps the period: both plans have the same length, and only the
 * remaining time is paid for.
 */
export const samePeriod = (a: PlanRow, b: PlanRow): boolean =>
  a.interval === b.interval && a.intervalCount === b.intervalCount;
