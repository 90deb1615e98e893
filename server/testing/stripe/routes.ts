import { type Form, flag, inner, text, textList, texts, whole } from './form.ts';
import { customerObject, list, paymentIntentObject } from './objects.ts';
import { paymentOf, refundCharge } from './payments.ts';
import {
  cancelSubscription,
  createCoupon,
  createSchedule,
  createSubscription,
  previewInvoice,
  releaseSchedule,
  updateSchedule,
  updateSubscription,
} from './subscriptions.ts';
import { invalidRequest, need, reference, type StripeWorld } from './world.ts';

/** A stored object, or a list of them; expansions are inserted afterwards. */
type Answer = object;
type Route = { method: string; path: RegExp; run: (world: StripeWorld, form: Form, id: string) => Answer };

const route = (method: string, path: string, run: Route['run']): Route => ({
  method,
  path: new RegExp(`^/v1/${path.replace(':id', '([^/]+)')}$`),
  run,
});

/** Returns one page, newest first, as Stripe does: after the object with that id. */
function page<T extends { id: string }>(found: Iterable<T>, form: Form, url: string): Answer {
  const newest = [...found].reverse();
  const after = text(form, 'starting_after');
  const from = after === undefined ? 0 : newest.findIndex(({ id }) => id === after) + 1;
  const limit = whole(form, 'limit') ?? 10;
  if (limit < 1 || limit > 100) throw invalidRequest('Invalid limit', { param: 'limit' });
  return list(newest.slice(from, from + limit), url, newest.length > from + limit);
}

const customers: Route[] = [
  route('POST', 'customers', (world, form) => {
    const customer = customerObject({
      id: world.id('customers'),
      created: world.now(),
      email: text(form, 'email') ?? null,
      name: text(form, 'name') ?? null,
      metadata: texts(form, 'metadata'),
    });
    world.customers.set(customer.id, customer);
    world.emit('customer.created', customer);
    return customer;
  }),
  route('GET', 'customers/search', (world, form) => {
    const wanted = [...(text(form, 'query') ?? '').matchAll(/metadata\['([^']+)'\]:'((?:[^'\\]|\\.)*)'/g)];
    const data = [...world.customers.values()].filter(({ metadata }) =>
      wanted.every(([, key = '', value = '']) => metadata[key] === value.replaceAll(/\\(.)/g, '$1')),
    );
    return { object: 'search_result', data, has_more: false, next_page: null, url: '/v1/customers/search' };
  }),
  route('GET', 'customers/:id', (world, _, id) => need(world.customers, id, 'customer')),
];

const subscriptions: Route[] = [
  route('POST', 'subscriptions', createSubscription),
  route('GET', 'subscriptions', (world, form) => {
    const customer = text(form, 'customer');
    const status = text(form, 'status');
    const found = [...world.subscriptions.values()].filter(
      subscription =>
        (customer === undefined || reference(subscription.customer) === customer) &&
        (status === 'all' ||
          (status === undefined ? subscription.status !== 'canceled' : subscription.status === status)),
    );
    return page(found, form, '/v1/subscriptions');
  }),
  route('GET', 'subscriptions/:id', (world, _, id) => need(world.subscriptions, id, 'subscription')),
  route('POST', 'subscriptions/:id', (world, form, id) => updateSubscription(world, id, form)),
  route('DELETE', 'subscriptions/:id', (world, _, id) => cancelSubscription(world, id)),
  route('POST', 'subscription_schedules', createSchedule),
  route('GET', 'subscription_schedules/:id', (world, _, id) => need(world.schedules, id, 'subscription schedule')),
  route('POST', 'subscription_schedules/:id', (world, form, id) => updateSchedule(world, id, form)),
  route('POST', 'subscription_schedules/:id/release', (world, _, id) => releaseSchedule(world, id)),
];

const invoices: Route[] = [
  route('POST', 'invoices/create_preview', previewInvoice),
  route('GET', 'invoices/:id', (world, _, id) => need(world.invoices, id, 'invoice')),
  route('GET', 'invoice_payments', (world, form) => {
    const intent = text(inner(form, 'payment'), 'payment_intent');
    const found = [...world.invoicePayments.values()].filter(
      ({ payment }) => intent === undefined || reference(payment.payment_intent) === intent,
    );
    return page(found, form, '/v1/invoice_payments');
  }),
];

const money: Route[] = [
  route('POST', 'payment_intents', (world, form) => {
    const amount = whole(form, 'amount');
    if (amount === undefined || !Number.isInteger(amount) || amount < 50)
      throw invalidRequest('Amount must be at least 50 cents', { code: 'amount_too_small', param: 'amount' });
    const customer = text(form, 'customer');
    const intent = paymentIntentObject({
      id: world.id('paymentIntents'),
      created: world.now(),
      amount,
      currency: text(form, 'currency') ?? 'usd',
      customer: customer === undefined ? null : need(world.customers, customer, 'customer', 'customer').id,
      description: text(form, 'description') ?? null,
      metadata: texts(form, 'metadata'),
      automatic: flag(inner(form, 'automatic_payment_methods'), 'enabled') ?? false,
    });
    world.paymentIntents.set(intent.id, intent);
    world.emit('payment_intent.created', intent);
    return intent;
  }),
  route('GET', 'payment_intents/:id', (world, _, id) => need(world.paymentIntents, id, 'payment_intent', 'intent')),
  route('GET', 'setup_intents/:id', (world, _, id) => need(world.setupIntents, id, 'setup_intent')),
  route('GET', 'charges/:id', (world, _, id) => need(world.charges, id, 'charge')),
  route('GET', 'disputes', (world, form) => {
    const charge = world.charges.get(text(form, 'charge') ?? '');
    const lost = charge?.disputed === true;
    return list(
      lost
        ? [{ id: `dp_${charge.id}`, object: 'dispute', amount: charge.amount, charge: charge.id, status: 'lost' }]
        : [],
      '/v1/disputes',
    );
  }),
  route('POST', 'refunds', (world, form) => {
    const charge =
      text(form, 'charge') ?? reference(world.paymentIntents.get(text(form, 'payment_intent') ?? '')?.latest_charge);
    return refundCharge(world, charge ?? '', whole(form, 'amount'));
  }),
];

const catalog: Route[] = [
  route('GET', 'prices/:id', (world, _, id) => need(world.prices, id, 'price')),
  route('POST', 'coupons', createCoupon),
  route('GET', 'promotion_codes', (world, form) => {
    const code = text(form, 'code')?.toLowerCase();
    const active = flag(form, 'active');
    const found = [...world.promotionCodes.values()].filter(
      promotion =>
        (code === undefined || promotion.code.toLowerCase() === code) &&
        (active === undefined || promotion.active === active),
    );
    return page(found, form, '/v1/promotion_codes');
  }),
  route('GET', 'events', (world, form) => {
    const types = textList(form, 'types');
    if (types.length > 20) throw invalidRequest('You may pass at most 20 types', { param: 'types' });
    const since = whole(inner(form, 'created'), 'gte') ?? 0;
    const found = world.events.filter(
      event => event.created >= since && (types.length === 0 || types.includes(event.type)),
    );
    return page(found, form, '/v1/events');
  }),
];

const routes = [...customers, ...subscriptions, ...invoices, ...money, ...catalog];

/** Executes a request, and answers as Stripe would. Throws StripeFault. */
export function answer(world: StripeWorld, method: string, path: string, form: Form): object {
  for (const { method: wanted, path: pattern, run } of routes) {
    const match = method === wanted ? pattern.exec(path) : null;
    if (!match) continue;
    const answered = structuredClone(run(world, form, decodeURIComponent(match[1] ?? '')));
    for (const field of textList(form, 'expand')) expand(world, answered, field.split('.'), field);
    return answered;
  }
  throw invalidRequest(`Unrecognized request URL (${method}: ${path}).`, {}, 404);
}

/** Replaces ids by their objects. */
function expand(world: StripeWorld, node: unknown, [name, ...rest]: string[], whole: string): void {
  if (name === undefined || typeof node !== 'object' || node === null) return;
  if (Array.isArray(node)) {
    for (const item of node) expand(world, item, [name, ...rest], whole);
    return;
  }
  if (name === 'confirmation_secret') {
    Reflect.set(node, name, confirmationSecret(world, String(Reflect.get(node, 'id'))));
    return;
  }
  if (name === 'applies_to') return;
  const value: unknown = Reflect.get(node, name);
  if (value === undefined) throw invalidRequest(`This property cannot be expanded (${whole}).`, { param: 'expand' });
  if (typeof value === 'string') {
    const found = world.find(value);
    if (found === undefined) throw invalidRequest(`This property cannot be expanded (${whole}).`, { param: 'expand' });
    Reflect.set(node, name, structuredClone(found));
  }
  expand(world, Reflect.get(node, name), rest, whole);
}

function confirmationSecret(world: StripeWorld, invoiceId: string): { client_secret: string; type: string } | null {
  const intent = world.paymentIntents.get(reference(paymentOf(world, invoiceId)?.payment.payment_intent) ?? '');
  return intent?.client_secret ? { client_secret: intent.client_secret, type: 'payment_intent' } : null;
}
