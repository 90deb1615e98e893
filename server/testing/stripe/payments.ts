import type Stripe from 'stripe';
import { chargeObject, invoicePaymentObject, refundObject, setupIntentObject } from './money.ts';
import { paymentIntentObject } from './objects.ts';
import { type CardBehaviour, invalidRequest, need, reference, type StripeWorld } from './world.ts';

/** Adds a card of a customer, as Stripe's form in the browser does for a number that none of our servers sees. */
export function addCard(world: StripeWorld, behaviour: CardBehaviour): string {
  const id = world.id('cards');
  world.cards.set(id, behaviour);
  return id;
}

/** Creates the payment of an invoice. */
export function openPayment(world: StripeWorld, invoice: Stripe.Invoice): Stripe.PaymentIntent {
  const intent = paymentIntentObject({
    id: world.id('paymentIntents'),
    created: world.now(),
    amount: invoice.amount_due,
    currency: invoice.currency,
    customer: reference(invoice.customer),
    description: 'Subscription',
    metadata: {},
    automatic: false,
  });
  world.paymentIntents.set(intent.id, intent);
  const payment = invoicePaymentObject(invoice, intent.id, { id: world.id('invoicePayments'), created: world.now() });
  world.invoicePayments.set(payment.id, payment);
  return intent;
}

export function paymentOf(world: StripeWorld, invoiceId: string): Stripe.InvoicePayment | undefined {
  return [...world.invoicePayments.values()].find(payment => reference(payment.invoice) === invoiceId);
}

function invoiceOf(world: StripeWorld, intentId: string): Stripe.Invoice | undefined {
  const payment = [...world.invoicePayments.values()].find(
    ({ payment: by }) => reference(by.payment_intent) === intentId,
  );
  return payment === undefined ? undefined : world.invoices.get(reference(payment.invoice) ?? '');
}

/** Acts as the browser: confirms a payment with a card. Returns the payment. */
export function confirmPayment(world: StripeWorld, intentId: string, cardId: string): Stripe.PaymentIntent {
  const intent = need(world.paymentIntents, intentId, 'payment_intent');
  if (intent.status === 'succeeded' || intent.status === 'canceled')
    throw invalidRequest(`You cannot confirm this PaymentIntent because it has a status of ${intent.status}.`);
  intent.payment_method = cardId;
  const invoice = invoiceOf(world, intentId);
  if (invoice) Object.assign(invoice, { attempted: true, attempt_count: invoice.attempt_count + 1 });
  switch (world.cards.get(cardId)) {
    case 'ok':
      return succeed(world, intent);
    case 'requires_action':
      intent.status = 'requires_action';
      intent.next_action = { type: 'use_stripe_sdk', use_stripe_sdk: {} };
      world.emit('payment_intent.requires_action', intent);
      if (invoice) world.emit('invoice.payment_action_required', invoice);
      return intent;
    default:
      return decline(world, intent);
  }
}

/** Acts as the bank's page: accepts or refuses. */
export function authenticatePayment(world: StripeWorld, intentId: string, agreed: boolean): Stripe.PaymentIntent {
  const intent = need(world.paymentIntents, intentId, 'payment_intent');
  if (intent.status !== 'requires_action') throw new Error(`${intentId} waits for no bank`);
  intent.next_action = null;
  return agreed ? succeed(world, intent) : decline(world, intent);
}

function succeed(world: StripeWorld, intent: Stripe.PaymentIntent): Stripe.PaymentIntent {
  const charge = chargeObject(intent, { id: world.id('charges'), created: world.now() });
  world.charges.set(charge.id, charge);
  Object.assign(intent, {
    status: 'succeeded',
    amount_received: intent.amount,
    latest_charge: charge.id,
    last_payment_error: null,
  });
  world.emit('charge.succeeded', charge);
  world.emit('payment_intent.succeeded', intent);
  const invoice = invoiceOf(world, intent.id);
  if (invoice) {
    markPaid(world, invoice);
    settleSubscription(world, invoice, { paid: true, card: reference(intent.payment_method) });
  }
  return intent;
}

export function markPaid(world: StripeWorld, invoice: Stripe.Invoice): void {
  const payment = paymentOf(world, invoice.id);
  if (payment) {
    Object.assign(payment, { status: 'paid', amount_paid: invoice.amount_due });
    payment.status_transitions.paid_at = world.now();
  }
  Object.assign(invoice, { status: 'paid', amount_paid: invoice.amount_due, amount_remaining: 0 });
  invoice.status_transitions.paid_at = world.now();
  world.emit('invoice.paid', invoice);
}

function decline(world: StripeWorld, intent: Stripe.PaymentIntent): Stripe.PaymentIntent {
  Object.assign(intent, {
    status: 'requires_payment_method',
    payment_method: null,
    last_payment_error: {
      type: 'card_error',
      code: 'card_declined',
      decline_code: 'generic_decline',
      message: 'Your card was declined.',
    },
  });
  world.emit('payment_intent.payment_failed', intent);
  const invoice = invoiceOf(world, intent.id);
  if (invoice) {
    world.emit('invoice.payment_failed', invoice);
    settleSubscription(world, invoice, { paid: false, card: null });
  }
  return intent;
}

/** Applies the end of an invoice's payment to its subscription. */
function settleSubscription(
  world: StripeWorld,
  invoice: Stripe.Invoice,
  { paid, card }: { paid: boolean; card: string | null },
): void {
  const subscription = world.subscriptions.get(reference(invoice.parent?.subscription_details?.subscription) ?? '');
  if (!subscription || reference(subscription.latest_invoice) !== invoice.id) return;
  if (!paid) return;
  if (card !== null && subscription.payment_settings?.save_default_payment_method === 'on_subscription')
    subscription.default_payment_method = card;
  const { pending_update: pending } = subscription;
  if (pending !== null && pending.subscription_items !== null) {
    subscription.items.data = pending.subscription_items;
    subscription.pending_update = null;
    world.emit('customer.subscription.pending_update_applied', subscription);
  }
  if (subscription.status !== 'canceled' && subscription.status !== 'incomplete_expired')
    if (subscription.status !== 'trialing') subscription.status = 'active';
  world.emit('customer.subscription.updated', subscription);
}

export function openSetup(world: StripeWorld, customer: string): Stripe.SetupIntent {
  const intent = setupIntentObject({ id: world.id('setupIntents'), created: world.now(), customer });
  world.setupIntents.set(intent.id, intent);
  return intent;
}

/** Acts as the browser: saves a card without paying. */
export function confirmSetup(world: StripeWorld, setupId: string, cardId: string): Stripe.SetupIntent {
  const intent = need(world.setupIntents, setupId, 'setup_intent');
  if (world.cards.get(cardId) === 'declined') {
    world.emit('setup_intent.setup_failed', intent);
    return intent;
  }
  Object.assign(intent, { status: 'succeeded', payment_method: cardId });
  for (const subscription of world.subscriptions.values()) {
    if (reference(subscription.pending_setup_intent) !== setupId) continue;
    subscription.pending_setup_intent = null;
    world.emit('customer.subscription.updated', subscription);
  }
  world.emit('setup_intent.succeeded', intent);
  return intent;
}

/** Refunds `amount` of a charge (default: its whole remainder), as from Stripe's dashboard. */
export function refundCharge(world: StripeWorld, chargeId: string, amount?: number): Stripe.Refund {
  const charge = need(world.charges, chargeId, 'charge');
  const left = charge.amount - charge.amount_refunded;
  const given = amount ?? left;
  if (given > left || given <= 0)
    throw invalidRequest(`Refund amount (${given}) is greater than unrefunded amount on charge (${left})`);
  const refund = refundObject(charge, { id: world.id('refunds'), created: world.now(), amount: given });
  world.refunds.set(refund.id, refund);
  charge.amount_refunded += given;
  charge.refunded = charge.amount_refunded === charge.amount;
  world.emit('charge.refunded', charge);
  world.emit('refund.created', refund);
  return refund;
}
