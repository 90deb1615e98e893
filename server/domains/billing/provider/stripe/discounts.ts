import Stripe from 'stripe';
import type { AppliedDiscount } from '../../../../operation/payment-provider.ts';
import type { PlanRow } from '../../../../operation/plan.ts';
import { sha256 } from '../../../../platform/crypto/digest.ts';
import type { StripeAccount } from './account.ts';
import { idOf } from './state.ts';

/** How a discount is passed to a subscription or a preview. */
export type DiscountChoice = { promotion_code: string } | { coupon: string };

/** Stripe shows a coupon's name on invoices; longer ones are refused. */
const MAX_NAME_LENGTH = 40;

/**
 * Returns a discount in Stripe's form: a promotion code of Stripe, or for a code of ours a coupon, which is created if
 * it does not exist.
 */
export async function discountChoice(account: StripeAccount, discount: AppliedDiscount): Promise<DiscountChoice> {
  if (discount.promotionId !== null) return { promotion_code: discount.promotionId };
  const { code, kind, value, currency, months } = discount;
  // The same terms give the same coupon; a code whose terms the operator changes gets another coupon.
  const id = `baton_${sha256(JSON.stringify([account.productCode, code, kind, value, currency, months]))
    .toString('hex')
    .slice(0, 32)}`;
  const params: Stripe.CouponCreateParams = {
    id,
    name: code.slice(0, MAX_NAME_LENGTH),
    ...(kind === 'percent' ? { percent_off: value } : { amount_off: value, ...(currency !== null && { currency }) }),
    ...(months === null ? { duration: 'forever' } : { duration: 'repeating', duration_in_months: months }),
    metadata: { product_code: account.productCode, code },
  };
  try {
    await account.stripe.coupons.create(params);
  } catch (error) {
    const exists = error instanceof Stripe.errors.StripeInvalidRequestError && error.code === 'resource_already_exists';
    if (!exists) throw error;
  }
  return { coupon: id };
}

/** Returns the discount of a promotion code at Stripe that this customer may use on this plan now; otherwise null. */
export async function findPromotion(
  account: StripeAccount,
  code: string,
  { plan, customerId }: { plan: PlanRow; customerId: string | null },
): Promise<AppliedDiscount | null> {
  const { data } = await account.stripe.promotionCodes.list({
    code,
    active: true,
    limit: 1,
    expand: ['data.promotion.coupon', 'data.promotion.coupon.applies_to'],
  });
  const [found] = data;
  if (!found || !mayUse(found, customerId, plan, account.clock.now())) return null;
  const { coupon } = found.promotion;
  if (coupon === null || typeof coupon === 'string' || !coupon.valid) return null;
  if (!(await appliesTo(account, coupon, plan))) return null;
  const months = coupon.duration === 'forever' ? null : coupon.duration === 'once' ? 1 : coupon.duration_in_months;
  const common = { code: found.code, months, promotionId: found.id };
  // A fraction of a percent could not be displayed exactly, and rounding would change the discount.
  if (coupon.percent_off !== null && Number.isInteger(coupon.percent_off))
    return { ...common, kind: 'percent', value: coupon.percent_off, currency: null };
  if (coupon.amount_off !== null && coupon.currency === plan.currency)
    return { ...common, kind: 'amount', value: coupon.amount_off, currency: coupon.currency };
  return null;
}

/**
 * Returns whether the code's own limits allow it for this customer and plan. Stripe checks restrictions to first
 * purchases when the code is used.
 */
function mayUse(code: Stripe.PromotionCode, customerId: string | null, plan: PlanRow, now: number): boolean {
  if (code.expires_at !== null && code.expires_at * 1000 <= now) return false;
  const holder = idOf(code.customer);
  if (holder !== null && holder !== customerId) return false;
  const { minimum_amount: minimum, minimum_amount_currency: currency } = code.restrictions;
  return minimum === null || (currency === plan.currency && plan.amount >= minimum);
}

async function appliesTo(account: StripeAccount, coupon: Stripe.Coupon, plan: PlanRow): Promise<boolean> {
  const products = coupon.applies_to?.products ?? [];
  if (products.length === 0) return true;
  if (plan.paymentPriceId === null) return false;
  const price = await account.stripe.prices.retrieve(plan.paymentPriceId);
  return products.includes(idOf(price.product) ?? '');
}
