import Stripe from 'stripe';
import type {
  AppliedDiscount,
  BillingCustomer,
  ProviderSubscription,
  SubscriptionRef,
} from '../../../../operation/payment-provider.ts';
import type { PlanRow } from '../../../../operation/plan.ts';
import { invalid } from '../../../../platform/errors.ts';
import { readState, type StripeAccount } from './account.ts';
import { ownership, withCustomer } from './customers.ts';
import { discountChoice } from './discounts.ts';
import { isMissing } from './errors.ts';
import { cardRequired, idOf, isOver, subscriptionExpand } from './state.ts';

const keyMark = 'baton_key';
const replacesMark = 'baton_replaces';

/** If a trial ends without a card, the subscription ends with it, so that the customer owes nothing by mistake. */
const endsWithoutCard = { end_behavior: { missing_payment_method: 'cancel' } } as const;

/** Creates a subscription whose trial ends at `trialEndsAt` (ms). If the plan requires a card, the trial starts once it is given. */
export async function startTrial(
  account: StripeAccount,
  customer: BillingCustomer,
  plan: PlanRow,
  { trialEndsAt, key }: { trialEndsAt: number; key: string },
): Promise<ProviderSubscription> {
  return await create(account, customer, plan, key, {
    trial_end: Math.floor(trialEndsAt / 1000),
    trial_settings: endsWithoutCard,
    metadata: plan.trialRequiresCard ? cardRequired : {},
  });
}

/**
 * Creates a subscription that becomes active when its first invoice is paid. The subscription that it `replaces` then
 * ends (`endReplaced`): a trial continues until the payment is confirmed, but an abandoned checkout ends now.
 */
export async function subscribe(
  account: StripeAccount,
  customer: BillingCustomer,
  plan: PlanRow,
  { discount, replaces, key }: { discount: AppliedDiscount | null; replaces: string | null; key: string },
): Promise<ProviderSubscription> {
  const discounts = discount === null ? undefined : [await discountChoice(account, discount)];
  const created = await create(account, customer, plan, key, {
    ...(discounts && { discounts }),
    metadata: replaces === null ? {} : { [replacesMark]: replaces },
  });
  if (replaces !== null && replaces !== created.subscriptionId) {
    const before = await retrieve(account, replaces);
    if (created.status !== 'incomplete' || before.status === 'incomplete') await endNow(account, replaces);
  }
  return created;
}

/** Ends the subscription that a running one has replaced. */
export async function endReplaced(account: StripeAccount, subscription: Stripe.Subscription): Promise<void> {
  const replaced = subscription.metadata[replacesMark];
  if (replaced !== undefined && subscription.status !== 'incomplete' && !isOver(subscription))
    await endNow(account, replaced);
}

async function create(
  account: StripeAccount,
  customer: BillingCustomer,
  plan: PlanRow,
  key: string,
  extra: Pick<Stripe.SubscriptionCreateParams, 'trial_end' | 'trial_settings' | 'discounts'> & {
    metadata: Record<string, string>;
  },
): Promise<ProviderSubscription> {
  const price = priceFor(plan);
  const version = account.nextVersion();
  const subscription = await withCustomer(account, customer, customerId =>
    createOnce(account, customerId, key, {
      ...extra,
      customer: customerId,
      items: [{ price, quantity: 1 }],
      // Nothing is charged before the browser has confirmed it. 3DS requires this, and it does no harm to other
      // payments.
      payment_behavior: 'default_incomplete',
      payment_settings: { save_default_payment_method: 'on_subscription' },
      metadata: {
        ...ownership(account, customer.tenantId),
        plan_code: plan.planCode,
        [keyMark]: key,
        ...extra.metadata,
      },
      expand: subscriptionExpand,
    }),
  );
  return await stateOf(account, subscription, version);
}

/**
 * Creates one subscription per key. A repeated request may differ from the one whose answer was lost (a trial's end is
 * counted from now), and Stripe then refuses it; the subscription already exists in that case.
 */
async function createOnce(
  account: StripeAccount,
  customerId: string,
  key: string,
  params: Stripe.SubscriptionCreateParams,
): Promise<Stripe.Subscription> {
  try {
    const idempotencyKey = `${key}:subscription:${customerId}`;
    return await account.stripe.subscriptions.create(params, { idempotencyKey });
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeIdempotencyError)) throw error;
    const { data } = await account.stripe.subscriptions.list({ customer: customerId, status: 'all', limit: 20 });
    const made = data.find(({ metadata }) => metadata[keyMark] === key);
    if (made === undefined) throw error;
    return await retrieve(account, made.id);
  }
}

/** Ends the trial. The amount due is charged to the present card, or confirmed in the browser. */
export async function convertTrial(
  account: StripeAccount,
  reference: SubscriptionRef,
  { key }: { key: string },
): Promise<ProviderSubscription> {
  const { current } = await released(account, reference, key);
  const version = account.nextVersion();
  const subscription = await account.stripe.subscriptions.update(
    current.id,
    {
      trial_end: 'now',
      cancel_at_period_end: false,
      // Without this, the end of a trial without a card would end the subscription.
      trial_settings: { end_behavior: { missing_payment_method: 'create_invoice' } },
      proration_behavior: 'none',
      payment_behavior: current.default_payment_method === null ? 'default_incomplete' : 'allow_incomplete',
      expand: subscriptionExpand,
    },
    { idempotencyKey: `${key}:convert` },
  );
  return await stateOf(account, subscription, version);
}

export async function extendTrial(
  account: StripeAccount,
  reference: SubscriptionRef,
  { trialEndsAt, key }: { trialEndsAt: number; key: string },
): Promise<ProviderSubscription> {
  const { current } = await released(account, reference, key);
  const version = account.nextVersion();
  const subscription = await account.stripe.subscriptions.update(
    current.id,
    { trial_end: Math.floor(trialEndsAt / 1000), proration_behavior: 'none', expand: subscriptionExpand },
    { idempotencyKey: `${key}:extend` },
  );
  return await stateOf(account, subscription, version);
}

/** Cancels a subscription at the period's end, or now; one that never became active ends now. An ended one is returned unchanged. */
export async function cancel(
  account: StripeAccount,
  reference: SubscriptionRef,
  { atPeriodEnd, key }: { atPeriodEnd: boolean; key: string },
): Promise<ProviderSubscription> {
  const { current } = await released(account, reference, key);
  if (isOver(current)) return await stateOf(account, current, account.nextVersion());
  if (!atPeriodEnd || current.status === 'incomplete') {
    await endNow(account, current.id);
    const version = account.nextVersion();
    return await stateOf(account, await retrieve(account, current.id), version);
  }
  const version = account.nextVersion();
  const subscription = await account.stripe.subscriptions.update(
    current.id,
    { cancel_at_period_end: true, expand: subscriptionExpand },
    { idempotencyKey: `${key}:cancel` },
  );
  return await stateOf(account, subscription, version);
}

/** Ends a subscription immediately, without refunding anything. Does nothing if it has already ended. */
async function endNow(account: StripeAccount, subscriptionId: string): Promise<void> {
  try {
    await account.stripe.subscriptions.cancel(subscriptionId, { invoice_now: false, prorate: false });
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

export async function retrieve(account: StripeAccount, subscriptionId: string): Promise<Stripe.Subscription> {
  return await account.stripe.subscriptions.retrieve(subscriptionId, { expand: subscriptionExpand });
}

/**
 * Releases the schedule of a subscription, because a schedule overrides other changes at Stripe. This drops its change
 * at the period's end. `given`: the schedule that the subscription had.
 */
export async function released(
  account: StripeAccount,
  reference: SubscriptionRef,
  key: string,
): Promise<{ current: Stripe.Subscription; given: string | null }> {
  const current = await retrieve(account, existing(reference));
  const given = idOf(current.schedule);
  if (given === null || isOver(current)) return { current, given: null };
  await account.stripe.subscriptionSchedules.release(given, {}, { idempotencyKey: `${key}:release:${given}` });
  return { current: { ...current, schedule: null }, given };
}

/** Returns the id of a subscription at Stripe. Throws AppError 422 without one: Stripe has no free plans. */
export function existing({ subscriptionId }: Pick<SubscriptionRef, 'subscriptionId'>): string {
  if (subscriptionId !== null) return subscriptionId;
  throw invalid('There is no subscription at the payment provider.', undefined, 'no_subscription');
}

export function priceFor(plan: PlanRow): string {
  if (plan.paymentPriceId === null)
    throw invalid(`The plan ${plan.planCode} has no price at the payment provider.`, undefined, 'plan_without_price');
  return plan.paymentPriceId;
}

export async function stateOf(
  account: StripeAccount,
  subscription: Stripe.Subscription,
  version: number,
): Promise<ProviderSubscription> {
  const state = await readState(account, subscription, version);
  if (state === null) throw invalid('The subscription has no plan of this deployment.', undefined, 'unknown_plan');
  return state;
}
