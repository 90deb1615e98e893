import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import type { AppliedDiscount, PaymentProvider, ProviderSubscription } from '../../../operation/payment-provider.ts';
import type { PlanRow } from '../../../operation/plan.ts';
import { conflict } from '../../../platform/errors.ts';
import { storeDiscount } from '../codes/discount.ts';
import { createManualPayment } from '../payments/manual-payment.ts';
import { priceOf } from '../payments/proration.ts';
import { owesSubscription } from '../payments/store.ts';
import type { SubscribeInput, SubscriptionOutput } from '../schemas.ts';
import { applyProviderState } from './apply-provider-state.ts';
import { changeSubscription, customerOf, type Held, keyOf, providerOf, referenceOf } from './change.ts';
import { toCheckout } from './checkout.ts';
import { choosePlan, isSubscribed, presentPlan, requireSelfServe } from './choose.ts';
import { discountFor, withDiscount } from './discount.ts';
import { ensureOnboarded } from './onboard.ts';
import { sellerOf } from './start-trial.ts';
import { readStatus } from './status.ts';

type Answer = z.input<typeof SubscriptionOutput>;

/** POST /v1/billing/subscription: subscribes from the onboarding plan, a trial, or an abandoned checkout. */
export async function subscribe(
  ctx: Context,
  { discount_code, ...choice }: z.output<typeof SubscribeInput>,
): Promise<Answer> {
  const { principal, services } = ctx;
  await ensureOnboarded(services, principal.tenantId);
  const plan = await choosePlan(services.pool, services.config.billing.productCode, choice);
  return await withDiscount(ctx, plan, discount_code, given =>
    changeSubscription(services, principal.tenantId, async held => {
      const { row, at } = held;
      await requireSubscribable(held, plan);
      const provider = sellerOf(services, plan);
      const discount = discountFor(row, plan, given, at);
      const next = await provider.subscribe(await customerOf(ctx, held), plan, {
        discount,
        replaces: row.provider === provider.kind ? row.subscriptionId : null,
        key: keyOf(held, `subscribe:${plan.planCode}:${discount?.code ?? ''}`),
      });
      return await storeSubscription(ctx, held, { provider, plan, discount, next });
    }),
  );
}

async function requireSubscribable({ db, row }: Held, plan: PlanRow): Promise<void> {
  if (isSubscribed(row) || (plan.planCode === row.planCode && row.subscriptionId === null)) {
    const message =
      plan.planCode === row.planCode
        ? `This workspace is already on ${plan.productName}.`
        : 'This workspace has a subscription already: change its plan.';
    throw conflict('already_subscribed', message);
  }
  if (plan.onboardingDefault)
    throw conflict(
      'onboarding_plan',
      `${plan.productName} needs no subscription: cancel the current plan to return to it.`,
    );
  requireSelfServe(plan);
  if (await owesSubscription(db, row.tenantId))
    throw conflict('payment_due', 'An invoice of an earlier subscription is not paid yet.');
}

/** POST /v1/billing/subscription/convert-trial-now: ends the trial, and starts to charge for the plan. */
export async function convertTrial(ctx: Context): Promise<Answer> {
  const { principal, services } = ctx;
  return await changeSubscription(services, principal.tenantId, async held => {
    const { db, row, at } = held;
    if (row.status !== 'trialing') throw conflict('not_trialing', 'This workspace is not in a trial.');
    const plan = await presentPlan(db, row);
    const provider = providerOf(services, row);
    const reference = await referenceOf(held, await customerOf(ctx, held), plan);
    const next = await provider.convertTrial(reference, { key: keyOf(held, 'convert') });
    const discount = provider.kind === 'manual' ? discountFor(row, plan, null, at) : null;
    return await storeSubscription(ctx, held, { provider, plan, discount, next });
  });
}

/** Stores a subscription that has just started; for a manual one, also the invoice of its first period. */
async function storeSubscription(
  { principal, services }: Context,
  { db, row, at }: Held,
  started: {
    provider: PaymentProvider;
    plan: PlanRow;
    discount: AppliedDiscount | null;
    next: ProviderSubscription;
  },
): Promise<Answer> {
  const { provider, plan, discount, next } = started;
  const { billing } = services.config;
  const amount = priceOf(plan, discount);
  const paymentId =
    provider.kind === 'manual'
      ? await createManualPayment(db, {
          tenantId: row.tenantId,
          kind: 'subscription',
          amount,
          currency: plan.currency,
          credits: plan.includedCredits,
          description: `${plan.productName}, from ${new Date(next.period.from).toISOString().slice(0, 10)}`,
          requestedBy: principal.userId,
          at,
        })
      : null;
  const kept = discount === null ? row.discount : storeDiscount(discount, at);
  const charged = { amount, paymentId };
  await applyProviderState({ db, billing, provider: provider.kind, at, charged }, { ...row, discount: kept }, next);
  return { status: await readStatus(services, db, row.tenantId), checkout: toCheckout(provider, next) };
}
