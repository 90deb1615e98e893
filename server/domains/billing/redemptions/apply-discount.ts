import type { Context } from '../../../operation/context.ts';
import type { AppliedDiscount } from '../../../operation/payment-provider.ts';
import type { PlanRow } from '../../../operation/plan.ts';
import { newId } from '../../../platform/ids.ts';
import { transact } from '../../../platform/postgres/transaction.ts';
import type { BillingCode } from '../codes/code.ts';
import { isForPlan, readDiscount, storeDiscount, toDiscount } from '../codes/discount.ts';
import { discountPresent } from '../codes/refusals.ts';
import { redeem } from '../codes/store.ts';
import { isSubscribed, presentPlan } from '../subscriptions/choose.ts';
import { lockSubscription, readSubscription, type SubscriptionRow, saveSubscription } from '../subscriptions/store.ts';
import type { Applied } from './apply.ts';
import { processOutbox } from './process-outbox.ts';
import { enqueueOutbox, type Pending } from './store.ts';

/**
 * Returns whether a discount applies to the current subscription: a paid one, or a trial at a provider that charges by
 * itself at its end. A manual trial ends on the onboarding plan unless the workspace subscribes, so its discount waits
 * for that.
 */
function appliesNow(row: SubscriptionRow, plan: PlanRow, of: Pick<BillingCode, 'planCodes' | 'currency'>): boolean {
  const charged = isSubscribed(row) || (row.status === 'trialing' && row.provider !== 'manual');
  return charged && isForPlan(of, plan);
}

/**
 * Applies a discount code to the current subscription, or keeps it for the next one that it applies to. Throws AppError 409
 * `discount_present`: the workspace has a discount that has not ended, and this code is not redeemed.
 */
export async function applyDiscountCode(ctx: Context, code: BillingCode): Promise<Applied | null> {
  const { services, principal } = ctx;
  const { tenantId, userId } = principal;
  const { productCode, code: name, planCodes } = code;
  const discount = toDiscount(code);
  if (discount === null) return null;
  const at = services.clock.now();
  const pending = await transact(services.pool, async db => {
    const row = await lockSubscription(db, tenantId);
    if (readDiscount(row.discount, at) !== null) throw discountPresent();
    const redemption = await redeem(db, { productCode, tenantId, userId, code: name, at });
    if (appliesNow(row, await presentPlan(db, row), code)) {
      const pendingDiscount: Pending = { redemptionId: redemption.id, code: name, kind: 'discount', discount };
      await enqueueOutbox(db, tenantId, pendingDiscount, at);
      return pendingDiscount;
    }
    await saveSubscription(db, { ...row, discount: storeDiscount(discount, null, planCodes) }, at);
    return null;
  });
  return pending === null ? waiting(discount) : await processOutbox(ctx, pending);
}

const waiting = ({ kind }: AppliedDiscount): Applied => ({
  kind,
  message: 'The discount will apply to your next subscription.',
  credits_granted: 0,
});

/**
 * Applies a promotion code of the provider to the current subscription. Returns null if the code does not exist, if the
 * workspace pays for nothing, or if the code is ours (`known`). Without a subscription, the code is entered while
 * subscribing, when the provider checks it against the plan.
 */
export async function applyPromotion(ctx: Context, code: string, known: boolean): Promise<Applied | null> {
  const { services, principal } = ctx;
  const { tenantId } = principal;
  const { pool, clock } = services;
  const row = await readSubscription(pool, tenantId);
  const plan = await presentPlan(pool, row);
  if (services.payments.kind !== row.provider || !appliesNow(row, plan, { planCodes: [], currency: null })) return null;
  const discount = await services.payments.findPromotion(code, { plan, customerId: row.customerId });
  if (discount === null || known) return null;
  if (readDiscount(row.discount, clock.now()) !== null) throw discountPresent();
  const pending: Pending = { redemptionId: newId(), code, kind: 'discount', discount };
  await transact(pool, db => enqueueOutbox(db, tenantId, pending, clock.now()));
  return await processOutbox(ctx, pending);
}
