import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import type {
  AppliedDiscount,
  ChangeQuote,
  PaymentProvider,
  ProviderSubscription,
  SubscriptionRef,
} from '../../../operation/payment-provider.ts';
import type { PlanRow } from '../../../operation/plan.ts';
import { isoTimestamp } from '../../../platform/clock.ts';
import { conflict } from '../../../platform/errors.ts';
import { resolveDiscount, storeDiscount } from '../codes/discount.ts';
import { codeNotValid } from '../codes/refusals.ts';
import { createManualPayment } from '../payments/manual-payment.ts';
import { isUpgrade, priceOf, samePeriod, share } from '../payments/proration.ts';
import type { ChangePlanInput, ChangePlanOutput, ChangePreview } from '../schemas.ts';
import { applyProviderState } from './apply-provider-state.ts';
import { cancelHeld } from './cancel.ts';
import { changeSubscription, customerOf, type Held, keyOf, providerOf, referenceOf } from './change.ts';
import { toCheckout } from './checkout.ts';
import { choosePlan, isSubscribed, presentPlan, requireSelfServe } from './choose.ts';
import { discountOn, runningDiscount, withDiscount } from './discount.ts';
import { recordEvent } from './journal-store.ts';
import { ensureOnboarded } from './onboard.ts';
import { readStatus } from './status.ts';

type Answer = z.input<typeof ChangePlanOutput>;
type Input = z.output<typeof ChangePlanInput>;
type When = 'now' | 'period_end';

/** A permitted change: the old and the new plan, when it takes effect, and the discount. */
type Change = {
  provider: PaymentProvider;
  reference: SubscriptionRef;
  plan: PlanRow;
  when: When;
  discount: AppliedDiscount | null;
};

/** POST /v1/billing/subscription/change-plan. */
export async function changePlan(ctx: Context, input: Input): Promise<Answer> {
  const { principal, services } = ctx;
  const { discount_code: code, preview } = input;
  await ensureOnboarded(services, principal.tenantId);
  const plan = await choosePlan(services.pool, services.config.billing.productCode, input);
  const underLock = (given: AppliedDiscount | null) =>
    changeSubscription(services, principal.tenantId, async held => {
      const change = await prepare(ctx, held, plan, input, given);
      const quote = await change.provider.quoteChange(change.reference, plan, change);
      return preview ? await answerOf(ctx, held, change, quote) : await perform(ctx, held, change, quote);
    });
  if (!preview || code === undefined) return await withDiscount(ctx, plan, code, underLock);
  // A preview redeems nothing.
  const { tenantId, userId } = principal;
  const given = await resolveDiscount(services, { tenantId, userId, code, plan });
  if (given === null) throw codeNotValid();
  return await underLock(given);
}

async function prepare(
  ctx: Context,
  held: Held,
  plan: PlanRow,
  { when }: Input,
  given: AppliedDiscount | null,
): Promise<Change> {
  const { db, row, at } = held;
  if (row.status === 'trialing')
    throw conflict('trialing', 'This workspace is in a trial: subscribe to a plan, or convert the trial.');
  if (!isSubscribed(row)) throw conflict('not_subscribed', 'This workspace has no subscription: subscribe to a plan.');
  const present = await presentPlan(db, row);
  const scheduled = row.cancelAtPeriodEnd || row.pendingPlanCode !== null;
  if (plan.planCode === row.planCode && !scheduled && given === null)
    throw conflict('same_plan', `This workspace is already on ${plan.productName}.`);
  if (plan.planCode !== row.planCode) requireSelfServe(plan);
  return {
    provider: providerOf(ctx.services, row),
    reference: await referenceOf(held, await customerOf(ctx, held), present),
    plan,
    when: plan.planCode === row.planCode ? 'period_end' : (when ?? (isUpgrade(present, plan) ? 'now' : 'period_end')),
    discount: discountOn(row, plan, given, at),
  };
}

/** Returns the cost of a change, and the credits that it grants when it takes effect. */
async function answerOf(
  { services }: Context,
  { db, row }: Held,
  change: Change,
  quote: ChangeQuote,
  next: Pick<ProviderSubscription, 'checkout'> = { checkout: null },
): Promise<Answer> {
  const preview: z.input<typeof ChangePreview> = {
    effective_at: isoTimestamp(quote.effectiveAt),
    currency: quote.currency,
    amount_due: quote.amountDue,
    lines: quote.lines,
    included_credits_granted: creditsOf(change, quote),
  };
  return {
    preview,
    status: await readStatus(services, db, row.tenantId),
    checkout: toCheckout(change.provider, next),
  };
}

function creditsOf({ plan, reference, when }: Change, { effectiveAt }: ChangeQuote): number {
  if (plan.planCode === reference.planCode) return 0;
  if (when === 'period_end' || !samePeriod(reference.plan, plan)) return plan.includedCredits;
  const { from, to } = reference.period;
  return share(plan.includedCredits, to - effectiveAt, to - from);
}

async function perform(ctx: Context, held: Held, change: Change, quote: ChangeQuote): Promise<Answer> {
  const { db, row, at } = held;
  const { plan, provider, when, discount, reference } = change;
  // A workspace without a subscription is on the onboarding plan, so a change to that plan is a cancellation.
  if (plan.onboardingDefault) {
    await cancelHeld(ctx, held, when === 'period_end');
    return await answerOf(ctx, held, change, quote);
  }
  const key = keyOf(held, `change:${plan.planCode}:${when}:${discount?.code ?? ''}`);
  const next = await provider.changePlan(reference, plan, { when, discount, key });
  const charged =
    provider.kind === 'manual' && next.planCode !== row.planCode ? await charge(ctx, held, change, quote) : undefined;
  const kept =
    discount === null || discount.code === runningDiscount(row, at)?.code ? row.discount : storeDiscount(discount, at);
  const context = { db, billing: ctx.services.config.billing, provider: provider.kind, at };
  await applyProviderState({ ...context, ...(charged && { charged }) }, { ...row, discount: kept }, next);
  if (next.pendingPlanCode !== null && next.pendingPlanCode !== row.pendingPlanCode) {
    const data = { from: row.planCode, to: next.pendingPlanCode };
    await recordEvent(db, { tenantId: row.tenantId, kind: 'change_scheduled', data, at });
  }
  return await answerOf(ctx, held, change, quote, next);
}

/**
 * Requests the payment of a change: the price of the remaining time on the new plan, or of its whole period if the lengths of the periods
 * differ, less the credit for unused time. Returns the payment and that price, without the credit.
 */
async function charge({ principal }: Context, { db, row, at }: Held, change: Change, quote: ChangeQuote) {
  const { plan, discount, reference } = change;
  const { from, to } = reference.period;
  const price = priceOf(plan, discount);
  const paymentId = await createManualPayment(db, {
    tenantId: row.tenantId,
    kind: 'subscription',
    amount: quote.amountDue,
    currency: quote.currency,
    credits: creditsOf(change, quote),
    description: `Change to ${plan.productName}`,
    requestedBy: principal.userId,
    at,
  });
  return {
    amount: samePeriod(reference.plan, plan) ? share(price, to - quote.effectiveAt, to - from) : price,
    paymentId,
  };
}
