import type Stripe from 'stripe';
import type { ProviderSubscription } from '../../../../operation/payment-provider.ts';

/** The objects to expand in a requested subscription, so that one answer has its whole state. */
export const subscriptionExpand = ['latest_invoice.confirmation_secret', 'pending_setup_intent', 'schedule'];

/** The metadata of Baton's objects at Stripe: the tenant, and the product because several deployments may share an account. */
export type Ownership = { tenant_id: string; product_code: string };

/** Marks a subscription whose trial starts only when a card is given (`trial_requires_card`, docs/specification/billing.md#plans). */
export const cardRequired = { baton_card: 'required' } as const;

/** Returns whether the subscription has ended at Stripe, which is final. */
export function isOver(subscription: Stripe.Subscription): boolean {
  return subscription.status === 'canceled' || subscription.status === 'incomplete_expired';
}

/** Returns the id in a field that may contain the object itself. */
export function idOf(value: string | { id: string } | null | undefined): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : value.id;
}

/** Returns the price of a subscription of ours, which has a single item. */
export function priceOf(subscription: Stripe.Subscription): string | null {
  return subscription.items.data[0]?.price.id ?? null;
}

/** Returns the price that a subscription's schedule sets next; null if the present price stays. */
export function nextPriceOf(subscription: Stripe.Subscription): string | null {
  const { schedule } = subscription;
  if (schedule === null || typeof schedule === 'string' || schedule.current_phase === null) return null;
  const { end_date: end } = schedule.current_phase;
  const next = schedule.phases.find(phase => phase.start_date === end);
  return idOf(next?.items[0]?.price);
}

/**
 * Converts a subscription at Stripe to Baton's form. `plans` names the plan of each price. `version` orders states by
 * the time of the request, since Stripe's objects do not say when they changed.
 */
export function subscriptionState(
  subscription: Stripe.Subscription,
  plans: { present: string; next: string | null },
  version: number,
): ProviderSubscription {
  const [item] = subscription.items.data;
  const from = item?.current_period_start ?? subscription.start_date;
  const to = item?.current_period_end ?? subscription.ended_at ?? subscription.start_date;
  const status = statusOf(subscription);
  return {
    customerId: idOf(subscription.customer),
    subscriptionId: subscription.id,
    planCode: plans.present,
    status,
    period: { from: from * 1000, to: to * 1000 },
    trialEndsAt: subscription.trial_end === null ? null : subscription.trial_end * 1000,
    cancelAtPeriodEnd:
      subscription.cancel_at_period_end || (subscription.cancel_at !== null && subscription.cancel_at <= to),
    pendingPlanCode: plans.next,
    version,
    checkout: isOver(subscription) ? null : checkoutOf(subscription),
  };
}

function statusOf(subscription: Stripe.Subscription): ProviderSubscription['status'] {
  switch (subscription.status) {
    case 'trialing':
      return awaitsCard(subscription) ? 'incomplete' : 'trialing';
    case 'active':
      return 'active';
    case 'incomplete':
      return 'incomplete';
    case 'canceled':
    case 'incomplete_expired':
      return 'cancelled';
    // `unpaid` and `paused`: Stripe has stopped trying, and no period is paid for. Unknown future statuses are treated
    // likewise.
    default:
      return 'past_due';
  }
}

/** Returns whether a trial that requires a card still has none. */
function awaitsCard(subscription: Stripe.Subscription): boolean {
  return (
    subscription.metadata.baton_card === cardRequired.baton_card &&
    subscription.default_payment_method === null &&
    subscription.pending_setup_intent !== null
  );
}

/** Returns the object that the browser has to confirm: a due payment, else the card that a trial requires before it starts. */
function checkoutOf(subscription: Stripe.Subscription): ProviderSubscription['checkout'] {
  const { latest_invoice: invoice, pending_setup_intent: setup } = subscription;
  if (invoice !== null && typeof invoice !== 'string' && invoice.status === 'open' && invoice.amount_remaining > 0) {
    const secret = invoice.confirmation_secret?.client_secret;
    if (secret !== undefined) return { kind: 'payment', clientSecret: secret };
  }
  if (awaitsCard(subscription) && setup !== null && typeof setup !== 'string' && setup.client_secret !== null)
    return { kind: 'setup', clientSecret: setup.client_secret };
  return null;
}
