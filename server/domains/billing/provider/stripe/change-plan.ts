import type Stripe from 'stripe';
import type {
  AppliedDiscount,
  ChangeQuote,
  ProviderSubscription,
  SubscriptionRef,
} from '../../../../operation/payment-provider.ts';
import type { PlanRow } from '../../../../operation/plan.ts';
import type { StripeAccount } from './account.ts';
import { type DiscountChoice, discountChoice } from './discounts.ts';
import { idOf, nextPriceOf, priceOf, subscriptionExpand } from './state.ts';
import { cancel, existing, priceFor, released, retrieve, stateOf } from './subscriptions.ts';

type When = 'now' | 'period_end';
type Change = { when: When; discount: AppliedDiscount | null; key: string };

/** Returns the cost of a change, from Stripe's own preview of the invoice. */
export async function quoteChange(
  account: StripeAccount,
  reference: SubscriptionRef,
  plan: PlanRow,
  { when, discount }: { when: When; discount: AppliedDiscount | null },
): Promise<ChangeQuote> {
  const now = account.clock.now();
  const later = { currency: plan.currency, amountDue: 0, lines: [] };
  if (when === 'period_end') return { ...later, effectiveAt: reference.period.to };
  if (reference.subscriptionId === null || plan.paymentPriceId === null || reference.status === 'trialing')
    return { ...later, effectiveAt: now };
  const current = await retrieve(account, reference.subscriptionId);
  const customer = idOf(current.customer);
  const preview = await account.stripe.invoices.createPreview({
    ...(customer !== null && { customer }),
    subscription: current.id,
    subscription_details: {
      items: replaceItem(current, plan.paymentPriceId),
      proration_behavior: 'always_invoice',
      proration_date: Math.floor(now / 1000),
    },
    ...(discount !== null && { discounts: [await discountChoice(account, discount)] }),
  });
  return {
    effectiveAt: now,
    currency: preview.currency,
    amountDue: Math.max(0, preview.amount_due),
    lines: preview.lines.data.map(line => ({ description: line.description ?? plan.productName, amount: line.amount })),
  };
}

/**
 * Moves a subscription to another plan. Now: the rest of the current period is credited and the difference invoiced; if
 * that payment must be confirmed, or fails, the plan does not change until it is paid. At the period's end: a schedule
 * at Stripe changes the plan, so that the renewal's invoice has the new price. Changing to the current plan cancels a
 * scheduled change. A plan without a price ends the subscription.
 */
export async function changePlan(
  account: StripeAccount,
  reference: SubscriptionRef,
  plan: PlanRow,
  change: Change,
): Promise<ProviderSubscription> {
  if (plan.paymentPriceId === null)
    return await cancel(account, reference, { atPeriodEnd: change.when === 'period_end', key: change.key });
  const free = await released(account, reference, change.key);
  let { current } = free;
  if (current.cancel_at_period_end) current = await undoCancellation(account, current, change.key);
  const discount = change.discount === null ? null : await discountChoice(account, change.discount);
  if (priceOf(current) === plan.paymentPriceId) return await stateWithDiscount(account, current, discount, change.key);
  return change.when === 'now'
    ? await changeNow(account, current, plan, discount, change.key)
    : await schedule(
        account,
        current,
        { price: plan.paymentPriceId, duration: durationOf(plan) },
        discount,
        // After a lost answer, a schedule already existed and was released: a new one needs another key.
        `${change.key}:${free.given ?? ''}`,
      );
}

/** The price that a schedule sets at the period's end. The schedule ends one period later. */
type NextPhase = {
  price: string;
  duration: Stripe.SubscriptionScheduleUpdateParams.Phase.Duration;
};

const durationOf = ({ interval, intervalCount }: Pick<PlanRow, 'interval' | 'intervalCount'>) => ({
  interval,
  interval_count: intervalCount,
});

/** Returns the change that is scheduled for the period's end; null if none is. */
function nextPhaseOf(current: Stripe.Subscription): NextPhase | null {
  const price = nextPriceOf(current);
  const recurring = current.items.data[0]?.price.recurring;
  if (price === null || !recurring) return null;
  return { price, duration: { interval: recurring.interval, interval_count: recurring.interval_count } };
}

async function undoCancellation(
  account: StripeAccount,
  current: Stripe.Subscription,
  key: string,
): Promise<Stripe.Subscription> {
  return await account.stripe.subscriptions.update(
    current.id,
    { cancel_at_period_end: false, expand: subscriptionExpand },
    { idempotencyKey: `${key}:keep` },
  );
}

async function stateWithDiscount(
  account: StripeAccount,
  current: Stripe.Subscription,
  discount: DiscountChoice | null,
  key: string,
): Promise<ProviderSubscription> {
  const version = account.nextVersion();
  if (discount === null) return await stateOf(account, await retrieve(account, current.id), version);
  return await stateOf(account, await setDiscounts(account, current, [discount], `${key}:discount`), version);
}

async function setDiscounts(
  account: StripeAccount,
  current: Stripe.Subscription,
  discounts: Stripe.SubscriptionUpdateParams.Discount[],
  idempotencyKey: string,
): Promise<Stripe.Subscription> {
  return await account.stripe.subscriptions.update(
    current.id,
    { discounts: discounts.length === 0 ? '' : discounts, expand: subscriptionExpand },
    { idempotencyKey },
  );
}

/** Sets a discount on the subscription from its next invoice on, replacing any other. */
export async function applyDiscount(
  account: StripeAccount,
  reference: SubscriptionRef,
  { discount, key }: { discount: AppliedDiscount; key: string },
): Promise<ProviderSubscription> {
  const given = await discountChoice(account, discount);
  const current = await retrieve(account, existing(reference));
  const next = nextPhaseOf(current);
  if (next === null) return await stateWithDiscount(account, current, given, key);
  // The scheduled change is kept: its schedule is released and created again with the discount.
  const free = await released(account, reference, key);
  await setDiscounts(account, free.current, [given], `${key}:discount`);
  return await schedule(account, free.current, next, given, `${key}:${free.given ?? ''}`);
}

async function changeNow(
  account: StripeAccount,
  current: Stripe.Subscription,
  plan: PlanRow,
  discount: DiscountChoice | null,
  key: string,
): Promise<ProviderSubscription> {
  const before = current.discounts.flatMap(given => idOf(given) ?? []);
  // A change that waits for its payment cannot include the discount. So the discount is set first, and removed if the
  // change is refused.
  if (discount !== null) await setDiscounts(account, current, [discount], `${key}:discount`);
  const items = replaceItem(current, priceFor(plan));
  const version = account.nextVersion();
  try {
    const changed = await account.stripe.subscriptions.update(
      current.id,
      current.status === 'trialing'
        ? { items, proration_behavior: 'none', expand: subscriptionExpand }
        : {
            items,
            proration_behavior: 'always_invoice',
            payment_behavior: 'pending_if_incomplete',
            expand: subscriptionExpand,
          },
      { idempotencyKey: `${key}:change` },
    );
    return await stateOf(account, changed, version);
  } catch (error) {
    const given = before.map(id => ({ discount: id }));
    if (discount !== null) await setDiscounts(account, current, given, `${key}:undiscount`);
    throw error;
  }
}

async function schedule(
  account: StripeAccount,
  current: Stripe.Subscription,
  next: NextPhase,
  discount: DiscountChoice | null,
  key: string,
): Promise<ProviderSubscription> {
  const { stripe } = account;
  const created = await stripe.subscriptionSchedules.create(
    { from_subscription: current.id },
    { idempotencyKey: `${key}:schedule` },
  );
  const [present] = created.phases;
  if (!present) throw new Error(`The schedule ${created.id} of a subscription has no phase.`);
  const kept = present.discounts.map(phaseDiscount);
  const version = account.nextVersion();
  await stripe.subscriptionSchedules.update(
    created.id,
    {
      end_behavior: 'release',
      proration_behavior: 'none',
      phases: [
        {
          items: present.items.map(item => ({ price: idOf(item.price) ?? '', quantity: item.quantity ?? 1 })),
          start_date: present.start_date,
          end_date: present.end_date,
          discounts: kept.length === 0 ? '' : kept,
          ...(present.trial_end !== null && { trial_end: present.trial_end }),
        },
        {
          items: [{ price: next.price, quantity: 1 }],
          duration: next.duration,
          discounts: discount !== null ? [discount] : kept.length === 0 ? '' : kept,
        },
      ],
    },
    { idempotencyKey: `${key}:phases` },
  );
  return await stateOf(account, await retrieve(account, current.id), version);
}

/** A phase without discounts would drop the discount of the subscription. */
function phaseDiscount(
  given: Stripe.SubscriptionSchedule.Phase.Discount,
): Stripe.SubscriptionScheduleUpdateParams.Phase.Discount {
  const discount = idOf(given.discount);
  if (discount !== null) return { discount };
  const promotion = idOf(given.promotion_code);
  return promotion === null ? { coupon: idOf(given.coupon) ?? '' } : { promotion_code: promotion };
}

/** Returns the only item of a subscription with another price. */
function replaceItem(current: Stripe.Subscription, price: string): { id: string; price: string; quantity: number }[] {
  return current.items.data.slice(0, 1).map(({ id }) => ({ id, price, quantity: 1 }));
}
