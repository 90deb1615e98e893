import type Stripe from 'stripe';
import { type Form, flag, inner, objects, text, texts, whole } from './form.ts';
import { couponObject, discountObject, scheduleObject, schedulePhase } from './money.ts';
import { invoiceObject, itemObject, type Line, subscriptionObject } from './objects.ts';
import { openSetup } from './payments.ts';
import {
  couponOff,
  discountOn,
  end,
  fullLine,
  itemOf,
  missesCard,
  startPeriod,
  voidInvoice,
  writeInvoice,
} from './renewal.ts';
import { invalidRequest, need, periodEnd, reference, type StripeWorld } from './world.ts';

const GRACE_S = 23 * 3600;
/**
 * The fields that a change which waits for its payment may have
 * (docs.stripe.com/billing/subscriptions/pending-updates-reference).
 */
const pendingMay = new Set([
  'expand',
  'payment_behavior',
  'proration_behavior',
  'proration_date',
  'billing_cycle_anchor',
  'items',
  'trial_end',
  'trial_from_plan',
  'add_invoice_items',
  'off_session',
  'cancel_at_period_end',
]);

function activePrice(world: StripeWorld, form: Form | undefined): Stripe.Price {
  const price = need(world.prices, form === undefined ? undefined : text(form, 'price'), 'price', 'items[0][price]');
  if (!price.active) throw invalidRequest(`The price specified is inactive: ${price.id}`);
  return price;
}

/** Returns the discounts that a request names, by promotion code, coupon or an existing discount. */
function readDiscounts(world: StripeWorld, given: Form[], subscription: Stripe.Subscription): string[] {
  return given.map(choice => {
    const existing = text(choice, 'discount');
    if (existing !== undefined) return need(world.discounts, existing, 'discount').id;
    const promotionId = text(choice, 'promotion_code');
    const promotion =
      promotionId === undefined
        ? null
        : need(world.promotionCodes, promotionId, 'promotion code', 'discounts[0][promotion_code]');
    if (promotion !== null && !promotion.active)
      throw invalidRequest('This promotion code is not active.', { code: 'promotion_code_expired' });
    const couponId = promotion === null ? text(choice, 'coupon') : reference(promotion.promotion.coupon);
    const coupon = need(world.coupons, couponId ?? undefined, 'coupon', 'discounts[0][coupon]');
    const months = coupon.duration === 'once' ? 1 : coupon.duration_in_months;
    const start = world.now();
    const discount = discountObject({
      id: world.id('discounts'),
      start,
      end: months === null ? null : periodEnd(start, { interval: 'month', interval_count: months }),
      coupon: coupon.id,
      promotion_code: promotion?.id ?? null,
      customer: reference(subscription.customer) ?? '',
      subscription: subscription.id,
    });
    coupon.times_redeemed += 1;
    world.discounts.set(discount.id, discount);
    return discount.id;
  });
}

export function createSubscription(world: StripeWorld, form: Form): Stripe.Subscription {
  const customer = need(world.customers, text(form, 'customer'), 'customer', 'customer');
  const price = activePrice(world, objects(form, 'items')?.[0]);
  const now = world.now();
  const trialEnd = whole(form, 'trial_end') ?? null;
  if (trialEnd !== null && trialEnd <= now)
    throw invalidRequest('Invalid timestamp: must be an integer Unix timestamp in the future.', { param: 'trial_end' });
  const id = world.id('subscriptions');
  const to = trialEnd ?? periodEnd(now, price.recurring ?? { interval: 'month', interval_count: 1 });
  const subscription = subscriptionObject({
    id,
    created: now,
    customer: customer.id,
    currency: price.currency,
    status: trialEnd === null ? 'incomplete' : 'trialing',
    item: itemObject({ id: world.id('items'), created: now, subscription: id, price, from: now, to }),
    metadata: texts(form, 'metadata'),
    trialEnd,
    missingPaymentMethod:
      text(inner(inner(form, 'trial_settings'), 'end_behavior'), 'missing_payment_method') ?? 'create_invoice',
    saveDefault: text(inner(form, 'payment_settings'), 'save_default_payment_method') ?? 'off',
  });
  subscription.discounts = readDiscounts(world, objects(form, 'discounts') ?? [], subscription);
  world.subscriptions.set(id, subscription);
  if (trialEnd !== null) {
    const free = { ...fullLine(price, now, to), amount: 0, description: 'Trial period' };
    writeInvoice(world, subscription, [free], 'subscription_create', 'browser');
    if (customer.invoice_settings.default_payment_method === null)
      subscription.pending_setup_intent = openSetup(world, customer.id).id;
  } else {
    const paying = text(form, 'payment_behavior') === 'default_incomplete' ? 'browser' : 'card';
    const invoice = writeInvoice(world, subscription, [fullLine(price, now, to)], 'subscription_create', paying);
    if (invoice.status === 'paid') subscription.status = 'active';
  }
  world.emit('customer.subscription.created', subscription);
  return subscription;
}

export function updateSubscription(world: StripeWorld, id: string, form: Form): Stripe.Subscription {
  const subscription = need(world.subscriptions, id, 'subscription');
  if (subscription.status === 'canceled' || subscription.status === 'incomplete_expired')
    throw invalidRequest('A canceled subscription can only update its cancellation_details and metadata.');
  const pending = text(form, 'payment_behavior') === 'pending_if_incomplete';
  const forbidden = Object.keys(form).filter(name => pending && !pendingMay.has(name));
  if (forbidden.length > 0)
    throw invalidRequest(`You cannot update ${forbidden.join(', ')} with payment_behavior=pending_if_incomplete.`);
  const ends = flag(form, 'cancel_at_period_end');
  if (ends !== undefined) {
    if (subscription.schedule !== null)
      throw invalidRequest(
        'The subscription is managed by a subscription schedule, and updating any cancelation behavior directly is not allowed.',
      );
    subscription.cancel_at_period_end = ends;
    subscription.canceled_at = ends ? world.now() : null;
    subscription.cancel_at = ends ? itemOf(subscription).current_period_end : null;
  }
  Object.assign(subscription.metadata, texts(form, 'metadata'));
  if (form.discounts !== undefined)
    subscription.discounts = readDiscounts(world, objects(form, 'discounts') ?? [], subscription);
  const card = text(form, 'default_payment_method');
  if (card !== undefined) subscription.default_payment_method = card;
  const missing = text(inner(inner(form, 'trial_settings'), 'end_behavior'), 'missing_payment_method');
  if (missing !== undefined && subscription.trial_settings)
    subscription.trial_settings.end_behavior.missing_payment_method = missing;
  if (form.items !== undefined) changeItems(world, subscription, form);
  if (form.trial_end !== undefined) moveTrial(world, subscription, form);
  world.emit('customer.subscription.updated', subscription);
  return subscription;
}

function moveTrial(world: StripeWorld, subscription: Stripe.Subscription, form: Form): void {
  const given = text(form, 'trial_end');
  const now = world.now();
  if (given !== 'now') {
    const to = Number(given);
    if (to <= now)
      throw invalidRequest('Invalid timestamp: must be an integer Unix timestamp in the future.', {
        param: 'trial_end',
      });
    Object.assign(subscription, { trial_end: to, status: 'trialing' });
    itemOf(subscription).current_period_end = to;
    if (subscription.cancel_at_period_end) subscription.cancel_at = to;
    return;
  }
  subscription.trial_end = now;
  if (missesCard(world, subscription)) {
    end(world, subscription, 'canceled');
    return;
  }
  const paying = text(form, 'payment_behavior') === 'default_incomplete' ? 'browser' : 'card';
  const invoice = startPeriod(world, subscription, now, 'subscription_update', paying);
  subscription.status = invoice.status === 'paid' ? 'active' : 'past_due';
}

/**
 * Returns lines for the unused time at the current price, and for the new price for the same time; another interval
 * starts a new period.
 */
function prorate(subscription: Stripe.Subscription, price: Stripe.Price, at: number): { lines: Line[]; to: number } {
  const item = itemOf(subscription);
  const { current_period_start: start, current_period_end: stop } = item;
  const left = (stop - at) / (stop - start);
  const same =
    item.price.recurring?.interval === price.recurring?.interval &&
    item.price.recurring?.interval_count === price.recurring?.interval_count;
  const to = same ? stop : periodEnd(at, price.recurring ?? { interval: 'month', interval_count: 1 });
  const credit: Line = {
    description: `Unused time on ${reference(item.price.product)}`,
    amount: -Math.round((item.price.unit_amount ?? 0) * left),
    price: item.price,
    from: at,
    to: stop,
    proration: true,
  };
  const charged: Line = {
    description: `Remaining time on ${reference(price.product)}`,
    amount: same ? Math.round((price.unit_amount ?? 0) * left) : (price.unit_amount ?? 0),
    price,
    from: at,
    to,
    proration: same,
  };
  return { lines: [credit, charged], to };
}

function changeItems(world: StripeWorld, subscription: Stripe.Subscription, form: Form): void {
  const given = objects(form, 'items')?.[0];
  const item = itemOf(subscription);
  if (given === undefined || text(given, 'id') !== item.id)
    throw invalidRequest(`No such subscription item: '${given === undefined ? '' : text(given, 'id')}'`, {
      code: 'resource_missing',
      param: 'items[0][id]',
    });
  const price = activePrice(world, given);
  if (price.id === item.price.id) return;
  const changed: Stripe.SubscriptionItem = { ...item, price };
  if (text(form, 'proration_behavior') !== 'always_invoice' || subscription.status === 'trialing') {
    subscription.items.data = [changed];
    return;
  }
  const before = world.invoices.get(reference(subscription.latest_invoice) ?? '');
  if (subscription.pending_update !== null && before?.status === 'open') voidInvoice(world, before);
  const { lines, to } = prorate(subscription, price, world.now());
  if (to !== item.current_period_end)
    Object.assign(changed, { current_period_start: world.now(), current_period_end: to });
  const waits = text(form, 'payment_behavior') === 'pending_if_incomplete';
  if (waits) {
    // Stored before the payment is tried: if that succeeds immediately, it applies the change.
    subscription.pending_update = {
      billing_cycle_anchor: null,
      cancel_at_period_end: null,
      discount: null,
      discounts: null,
      expires_at: world.now() + GRACE_S,
      metadata: null,
      subscription_items: [changed],
      trial_end: null,
      trial_from_plan: null,
    };
  }
  const invoice = writeInvoice(world, subscription, lines, 'subscription_update', 'card');
  if (invoice.status === 'paid') subscription.pending_update = null;
  if (invoice.status === 'paid' || !waits) subscription.items.data = [changed];
  if (invoice.status !== 'paid' && !waits) subscription.status = 'past_due';
}

export function cancelSubscription(world: StripeWorld, id: string): Stripe.Subscription {
  const subscription = need(world.subscriptions, id, 'subscription');
  if (subscription.status === 'canceled' || subscription.status === 'incomplete_expired')
    throw invalidRequest(`No such subscription: '${id}'`, { code: 'resource_missing', param: 'id' }, 404);
  end(world, subscription, subscription.status === 'incomplete' ? 'incomplete_expired' : 'canceled');
  return subscription;
}

/** Returns the invoice that a change would write, without storing anything. */
export function previewInvoice(world: StripeWorld, form: Form): Stripe.Invoice {
  const subscription = need(world.subscriptions, text(form, 'subscription'), 'subscription', 'subscription');
  const details = inner(form, 'subscription_details');
  const price = activePrice(world, objects(details, 'items')?.[0]);
  const { lines } = prorate(subscription, price, whole(details, 'proration_date') ?? world.now());
  const sum = Math.max(
    0,
    lines.reduce((total, { amount }) => total + amount, 0),
  );
  const given = objects(form, 'discounts');
  const off =
    given === undefined
      ? discountOn(world, subscription.discounts, lines)
      : given.reduce((total, choice) => {
          const promotion = world.promotionCodes.get(text(choice, 'promotion_code') ?? '');
          const coupon = world.coupons.get(text(choice, 'coupon') ?? reference(promotion?.promotion.coupon) ?? '');
          return total + (coupon ? couponOff(coupon, sum) : 0);
        }, 0);
  return invoiceObject({
    id: `upcoming_in_${world.invoices.size}`,
    created: world.now(),
    customer: reference(subscription.customer) ?? '',
    currency: subscription.currency,
    subscription,
    reason: 'subscription_update',
    lines,
    discount: Math.min(off, sum),
    number: 'PREVIEW',
  });
}

export function createSchedule(world: StripeWorld, form: Form): Stripe.SubscriptionSchedule {
  const subscription = need(world.subscriptions, text(form, 'from_subscription'), 'subscription', 'from_subscription');
  if (subscription.schedule !== null)
    throw invalidRequest('You cannot migrate a subscription that is already attached to a schedule.', {
      param: 'from_subscription',
    });
  const item = itemOf(subscription);
  const phase = schedulePhase({
    price: item.price.id,
    currency: subscription.currency,
    start_date: item.current_period_start,
    end_date: item.current_period_end,
    trial_end: subscription.status === 'trialing' ? subscription.trial_end : null,
    discounts: subscription.discounts.map(given => ({
      coupon: null,
      discount: reference(given),
      promotion_code: null,
    })),
  });
  const schedule = scheduleObject({
    id: world.id('schedules'),
    created: world.now(),
    customer: reference(subscription.customer) ?? '',
    subscription: subscription.id,
    phases: [phase],
  });
  world.schedules.set(schedule.id, schedule);
  subscription.schedule = schedule.id;
  world.emit('subscription_schedule.created', schedule);
  return schedule;
}

export function updateSchedule(world: StripeWorld, id: string, form: Form): Stripe.SubscriptionSchedule {
  const schedule = need(world.schedules, id, 'subscription schedule');
  const subscription = need(world.subscriptions, reference(schedule.subscription) ?? '', 'subscription');
  let start = schedule.phases[0]?.start_date ?? world.now();
  schedule.phases = (objects(form, 'phases') ?? []).map(given => {
    const price = activePrice(world, objects(given, 'items')?.[0]);
    const begins = whole(given, 'start_date') ?? start;
    const duration = inner(given, 'duration');
    const ends =
      whole(given, 'end_date') ??
      periodEnd(begins, {
        interval: text(duration, 'interval') ?? 'month',
        interval_count: whole(duration, 'interval_count') ?? 1,
      });
    start = ends;
    const discounts = readDiscounts(world, objects(given, 'discounts') ?? [], subscription);
    return schedulePhase({
      price: price.id,
      currency: price.currency,
      start_date: begins,
      end_date: ends,
      trial_end: whole(given, 'trial_end') ?? null,
      discounts: discounts.map(discount => ({ coupon: null, discount, promotion_code: null })),
    });
  });
  world.emit('subscription_schedule.updated', schedule);
  return schedule;
}

export function releaseSchedule(world: StripeWorld, id: string): Stripe.SubscriptionSchedule {
  const schedule = need(world.schedules, id, 'subscription schedule');
  if (schedule.status !== 'active' && schedule.status !== 'not_started')
    throw invalidRequest(
      `You cannot release a subscription schedule that is currently in the \`${schedule.status}\` status.`,
    );
  const subscription = need(world.subscriptions, reference(schedule.subscription) ?? '', 'subscription');
  Object.assign(schedule, {
    status: 'released',
    released_at: world.now(),
    released_subscription: subscription.id,
    subscription: null,
  });
  subscription.schedule = null;
  world.emit('subscription_schedule.released', schedule);
  return schedule;
}

export function createCoupon(world: StripeWorld, form: Form): Stripe.Coupon {
  const id = text(form, 'id') ?? world.id('coupons');
  if (world.coupons.has(id))
    throw invalidRequest('Coupon already exists.', { code: 'resource_already_exists', param: 'id' });
  const coupon = couponObject({
    id,
    created: world.now(),
    percent_off: whole(form, 'percent_off') ?? null,
    amount_off: whole(form, 'amount_off') ?? null,
    currency: text(form, 'currency') ?? null,
    duration: text(form, 'duration') ?? 'once',
    duration_in_months: whole(form, 'duration_in_months') ?? null,
    name: text(form, 'name') ?? null,
    metadata: texts(form, 'metadata'),
  });
  world.coupons.set(id, coupon);
  return coupon;
}
