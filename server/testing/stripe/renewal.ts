import type Stripe from 'stripe';
import { invoiceObject, type Line } from './objects.ts';
import { confirmPayment, markPaid, openPayment, paymentOf } from './payments.ts';
import { need, periodEnd, reference, type StripeWorld } from './world.ts';

/** The time after which an unpaid first invoice ends its subscription, and an unpaid change is dropped. */
const GRACE_S = 23 * 3600;

export const itemOf = (subscription: Stripe.Subscription): Stripe.SubscriptionItem => {
  const [item] = subscription.items.data;
  if (!item) throw new Error(`${subscription.id} has no item`);
  return item;
};

export const fullLine = (price: Stripe.Price, from: number, to: number): Line => ({
  description: `1 × ${reference(price.product)} (at ${price.unit_amount} / ${price.recurring?.interval})`,
  amount: price.unit_amount ?? 0,
  price,
  from,
  to,
  proration: false,
});

/** Returns the amount that a subscription's discounts subtract from `lines`. */
export function discountOn(
  world: StripeWorld,
  discounts: readonly (string | Stripe.Discount)[],
  lines: Line[],
): number {
  const sum = Math.max(
    0,
    lines.reduce((total, { amount }) => total + amount, 0),
  );
  let off = 0;
  for (const given of discounts) {
    const discount = world.discounts.get(reference(given) ?? '');
    if (!discount || (discount.end !== null && discount.end <= world.now())) continue;
    const coupon = world.coupons.get(reference(discount.source.coupon) ?? '');
    if (coupon) off += couponOff(coupon, sum);
  }
  return Math.min(off, sum);
}

export const couponOff = (coupon: Stripe.Coupon, sum: number): number =>
  coupon.percent_off !== null ? Math.round((sum * coupon.percent_off) / 100) : Math.min(sum, coupon.amount_off ?? 0);

export type Paying = 'browser' | 'card';

/** Writes an invoice and, with `card`, charges the stored card. An unpaid invoice stays open, with a payment to confirm. */
export function writeInvoice(
  world: StripeWorld,
  subscription: Stripe.Subscription,
  lines: Line[],
  reason: Stripe.Invoice.BillingReason,
  paying: Paying,
): Stripe.Invoice {
  const customer = need(world.customers, reference(subscription.customer) ?? '', 'customer');
  const invoice = invoiceObject({
    id: world.id('invoices'),
    created: world.now(),
    customer: customer.id,
    currency: subscription.currency,
    subscription,
    reason,
    lines,
    discount: discountOn(world, subscription.discounts, lines),
    number: `${customer.invoice_prefix}-${world.invoices.size + 1}`,
  });
  world.invoices.set(invoice.id, invoice);
  subscription.latest_invoice = invoice.id;
  world.emit('invoice.created', invoice);
  world.emit('invoice.finalized', invoice);
  if (invoice.total <= 0) {
    customer.balance += invoice.total;
    markPaid(world, invoice);
    return invoice;
  }
  const intent = openPayment(world, invoice);
  const card =
    reference(subscription.default_payment_method) ?? reference(customer.invoice_settings.default_payment_method);
  if (paying === 'card' && card !== null) confirmPayment(world, intent.id, card);
  return invoice;
}

export function end(world: StripeWorld, subscription: Stripe.Subscription, status: 'canceled' | 'incomplete_expired') {
  const now = world.now();
  Object.assign(subscription, {
    status,
    ended_at: now,
    canceled_at: subscription.canceled_at ?? now,
    pending_update: null,
  });
  const invoice = world.invoices.get(reference(subscription.latest_invoice) ?? '');
  if (invoice?.status === 'open') voidInvoice(world, invoice);
  const schedule = world.schedules.get(reference(subscription.schedule) ?? '');
  if (schedule) Object.assign(schedule, { status: 'canceled', canceled_at: now });
  world.emit('customer.subscription.deleted', subscription);
}

export function voidInvoice(world: StripeWorld, invoice: Stripe.Invoice): void {
  invoice.status = 'void';
  invoice.status_transitions.voided_at = world.now();
  const payment = paymentOf(world, invoice.id);
  const intent = world.paymentIntents.get(reference(payment?.payment.payment_intent) ?? '');
  if (intent) Object.assign(intent, { status: 'canceled', canceled_at: world.now() });
  world.emit('invoice.voided', invoice);
}

/** Processes what becomes due until `to` (s), in time order. */
export function advance(world: StripeWorld, to: number): void {
  for (;;) {
    const due = [...world.subscriptions.values()]
      .map(subscription => ({ subscription, at: nextInstant(subscription) }))
      .filter(({ at }) => at <= to)
      .sort((a, b) => a.at - b.at)[0];
    if (!due) break;
    world.moment = due.at;
    processDue(world, due.subscription);
  }
  world.moment = null;
}

function nextInstant(subscription: Stripe.Subscription): number {
  switch (subscription.status) {
    case 'canceled':
    case 'incomplete_expired':
      return Number.POSITIVE_INFINITY;
    case 'incomplete':
      return subscription.created + GRACE_S;
    default:
      return Math.min(itemOf(subscription).current_period_end, subscription.pending_update?.expires_at ?? Infinity);
  }
}

function processDue(world: StripeWorld, subscription: Stripe.Subscription): void {
  const now = world.now();
  if (subscription.status === 'incomplete') {
    end(world, subscription, 'incomplete_expired');
  } else if (subscription.pending_update !== null && subscription.pending_update.expires_at <= now) {
    subscription.pending_update = null;
    const invoice = world.invoices.get(reference(subscription.latest_invoice) ?? '');
    if (invoice?.status === 'open') voidInvoice(world, invoice);
    world.emit('customer.subscription.pending_update_expired', subscription);
  } else if (
    subscription.cancel_at_period_end ||
    (subscription.status === 'trialing' && missesCard(world, subscription))
  ) {
    end(world, subscription, 'canceled');
  } else {
    renew(world, subscription);
  }
}

export function missesCard(world: StripeWorld, subscription: Stripe.Subscription): boolean {
  const customer = world.customers.get(reference(subscription.customer) ?? '');
  return (
    subscription.default_payment_method === null &&
    (customer?.invoice_settings.default_payment_method ?? null) === null &&
    subscription.trial_settings?.end_behavior.missing_payment_method === 'cancel'
  );
}

function renew(world: StripeWorld, subscription: Stripe.Subscription): void {
  const item = itemOf(subscription);
  const from = item.current_period_end;
  nextPhase(world, subscription, from);
  const { price } = itemOf(subscription);
  startPeriod(world, subscription, from, 'subscription_cycle', 'card');
  subscription.status =
    world.invoices.get(reference(subscription.latest_invoice) ?? '')?.status === 'paid' ? 'active' : 'past_due';
  if (price.unit_amount === 0) subscription.status = 'active';
  world.emit('customer.subscription.updated', subscription);
}

/** Starts a period at the present price, invoiced in full. */
export function startPeriod(
  world: StripeWorld,
  subscription: Stripe.Subscription,
  from: number,
  reason: Stripe.Invoice.BillingReason,
  paying: Paying,
): Stripe.Invoice {
  const item = itemOf(subscription);
  const recurring = item.price.recurring;
  if (!recurring) throw new Error(`${item.price.id} does not recur`);
  item.current_period_start = from;
  item.current_period_end = periodEnd(from, recurring);
  return writeInvoice(world, subscription, [fullLine(item.price, from, item.current_period_end)], reason, paying);
}

function nextPhase(world: StripeWorld, subscription: Stripe.Subscription, at: number): void {
  const schedule = world.schedules.get(reference(subscription.schedule) ?? '');
  if (schedule?.status !== 'active') return;
  const next = schedule.phases.find(phase => phase.start_date === at);
  if (!next) {
    Object.assign(schedule, { status: 'released', released_at: at, current_phase: null });
    Object.assign(schedule, { released_subscription: subscription.id, subscription: null });
    subscription.schedule = null;
    world.emit('subscription_schedule.released', schedule);
    return;
  }
  schedule.current_phase = { start_date: next.start_date, end_date: next.end_date };
  const price = need(world.prices, reference(next.items[0]?.price) ?? '', 'price');
  itemOf(subscription).price = price;
  subscription.discounts = next.discounts.flatMap(({ discount }) => reference(discount) ?? []);
  world.emit('subscription_schedule.updated', schedule);
}
