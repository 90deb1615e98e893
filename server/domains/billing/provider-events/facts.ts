import type Stripe from 'stripe';
import type { ProviderFact } from '../../../operation/payment-provider.ts';
import { readState, type StripeAccount } from '../provider/stripe/account.ts';
import { isMissing } from '../provider/stripe/errors.ts';
import { idOf, isOver, subscriptionExpand } from '../provider/stripe/state.ts';
import { endReplaced } from '../provider/stripe/subscriptions.ts';
import { intentStatus, topUpMark } from '../provider/stripe/topups.ts';
import type { Subject } from './event.ts';
import { findTenant } from './tenant-store.ts';

/** The number of a customer's subscriptions that are read, newest first: older ones ended long ago. */
const SUBSCRIPTIONS = 20;

/**
 * Returns the present state at Stripe of an event's object; empty if it does not belong to this deployment. Rejects
 * with Stripe's errors if it cannot be read: the event must then be sent again.
 */
export async function readFacts(account: StripeAccount, subject: Subject): Promise<ProviderFact[]> {
  switch (subject.kind) {
    case 'subscription':
      return await subscriptionFacts(account, subject.customer);
    case 'invoice':
      return await invoiceFacts(account, await account.stripe.invoices.retrieve(subject.id));
    case 'payment':
      return await topUpFacts(account, await readIntent(account, subject.id));
    case 'charge':
      return await chargeFacts(account, subject.id);
    case 'card':
      return await cardFacts(account, subject);
  }
}

/**
 * Returns the customer's relevant subscription: a running one before one that was never paid for, that before one that
 * has ended; among equals the newest.
 */
async function currentSubscription(account: StripeAccount, customer: string): Promise<Stripe.Subscription | null> {
  const { data } = await account.stripe.subscriptions.list({
    customer,
    status: 'all',
    limit: SUBSCRIPTIONS,
    expand: subscriptionExpand.map(field => `data.${field}`),
  });
  const rank = (subscription: Stripe.Subscription) =>
    isOver(subscription) ? 0 : subscription.status === 'incomplete' ? 1 : 2;
  const ours = data.filter(({ metadata }) => (metadata.product_code ?? account.productCode) === account.productCode);
  const [first] = ours.sort((a, b) => rank(b) - rank(a) || b.created - a.created);
  return first ?? null;
}

export async function subscriptionFacts(account: StripeAccount, customer: string): Promise<ProviderFact[]> {
  const version = account.nextVersion();
  const subscription = await currentSubscription(account, customer);
  if (subscription === null) return [];
  const tenantId = await findTenant(account, customer, subscription.metadata);
  if (tenantId === null) return [];
  await endReplaced(account, subscription);
  const state = await readState(account, subscription, version);
  if (state === null) return [];
  const ended = subscription.ended_at ?? subscription.canceled_at;
  const at = isOver(subscription) && ended !== null ? ended * 1000 : account.clock.now();
  return [{ type: 'subscription', tenantId, subscription: state, at }];
}

/**
 * Returns the facts of an invoice, which stands for the payment of a subscription: several payments may pay it, or none
 * if the customer had credit.
 */
async function invoiceFacts(account: StripeAccount, invoice: Stripe.Invoice): Promise<ProviderFact[]> {
  const customer = idOf(invoice.customer);
  const details = invoice.parent?.subscription_details;
  if (customer === null || !details || invoice.status === null || invoice.status === 'draft') return [];
  if (invoice.total <= 0) return [];
  const tenantId = await findTenant(account, customer, details.metadata);
  if (tenantId === null) return [];
  const transitions = invoice.status_transitions;
  const at = transitions.paid_at ?? transitions.voided_at ?? transitions.marked_uncollectible_at ?? invoice.created;
  return [
    {
      type: 'payment',
      tenantId,
      kind: 'subscription',
      paymentId: invoice.id,
      status: invoiceStatus(invoice.status),
      amount: invoice.status === 'paid' ? invoice.amount_paid : invoice.amount_due,
      currency: invoice.currency,
      description: invoice.lines.data.map(line => line.description).find(text => text) ?? 'Subscription',
      invoiceUrl: invoice.hosted_invoice_url ?? null,
      at: at * 1000,
    },
  ];
}

type PaymentStatus = Extract<ProviderFact, { type: 'payment' }>['status'];

/** An open payment may still succeed after failures: Stripe tries again, and so may the customer. */
function invoiceStatus(status: Stripe.Invoice.Status): PaymentStatus {
  switch (status) {
    case 'paid':
      return 'succeeded';
    case 'void':
      return 'cancelled';
    case 'uncollectible':
      return 'failed';
    default:
      return 'pending';
  }
}

async function readIntent(account: StripeAccount, id: string): Promise<Stripe.PaymentIntent> {
  return await account.stripe.paymentIntents.retrieve(id, { expand: ['latest_charge'] });
}

/** Returns the facts of a top-up and its refunds. They are applied together, because a refund before its payment would refer to nothing. */
async function topUpFacts(account: StripeAccount, intent: Stripe.PaymentIntent): Promise<ProviderFact[]> {
  const { metadata } = intent;
  if (metadata.baton_payment !== topUpMark.baton_payment || metadata.product_code !== account.productCode) return [];
  const tenantId = await findTenant(account, idOf(intent.customer), metadata);
  if (tenantId === null) return [];
  const status = intentStatus(intent);
  const charge = typeof intent.latest_charge === 'string' ? null : intent.latest_charge;
  const at = (intent.canceled_at ?? charge?.created ?? intent.created) * 1000;
  const payment: ProviderFact = {
    type: 'payment',
    tenantId,
    kind: 'topup',
    paymentId: intent.id,
    status,
    amount: status === 'succeeded' ? intent.amount_received : intent.amount,
    currency: intent.currency,
    description: intent.description ?? 'Top-up',
    invoiceUrl: charge?.receipt_url ?? null,
    at,
  };
  return [payment, ...(charge === null ? [] : await refundFacts(account, charge, tenantId, intent.id))];
}

async function chargeFacts(account: StripeAccount, chargeId: string): Promise<ProviderFact[]> {
  const charge = await account.stripe.charges.retrieve(chargeId);
  const intentId = idOf(charge.payment_intent);
  if (intentId === null) return [];
  const intent = await readIntent(account, intentId);
  if (intent.metadata.baton_payment === topUpMark.baton_payment) return await topUpFacts(account, intent);
  const { data } = await account.stripe.invoicePayments.list({
    payment: { type: 'payment_intent', payment_intent: intentId },
    limit: 1,
  });
  const invoiceId = idOf(data[0]?.invoice);
  if (invoiceId === null) return [];
  const payments = await invoiceFacts(account, await account.stripe.invoices.retrieve(invoiceId));
  const [payment] = payments;
  return payment ? [...payments, ...(await refundFacts(account, charge, payment.tenantId, invoiceId))] : [];
}

/** Returns the total of the refunds, including those that a bank decided for the payer. */
async function refundFacts(
  account: StripeAccount,
  charge: Stripe.Charge,
  tenantId: string,
  paymentId: string,
): Promise<ProviderFact[]> {
  let returned = charge.amount_refunded;
  if (charge.disputed) {
    const { data } = await account.stripe.disputes.list({ charge: charge.id });
    for (const dispute of data) if (dispute.status === 'lost') returned += dispute.amount;
  }
  if (returned === 0) return [];
  const refundedAmount = Math.min(returned, charge.amount);
  return [{ type: 'refund', tenantId, paymentId, refundedAmount, at: account.clock.now() }];
}

/** Makes the card of a trial the default payment method of its subscription. */
async function cardFacts(
  account: StripeAccount,
  { setupIntent, customer }: { setupIntent: string; customer: string },
): Promise<ProviderFact[]> {
  const intent = await account.stripe.setupIntents.retrieve(setupIntent);
  const subscription = await currentSubscription(account, customer);
  const card = idOf(intent.payment_method);
  const misses = subscription !== null && !isOver(subscription) && subscription.default_payment_method === null;
  if (misses && card !== null && intent.status === 'succeeded') {
    const tenantId = await findTenant(account, customer, subscription.metadata);
    if (tenantId === null) return [];
    await account.stripe.subscriptions
      .update(
        subscription.id,
        { default_payment_method: card },
        { idempotencyKey: `baton-card-${setupIntent}-${subscription.id}` },
      )
      .catch((error: unknown) => {
        // The subscription has ended meanwhile, so nothing is left to pay.
        if (!isMissing(error)) throw error;
      });
  }
  return await subscriptionFacts(account, customer);
}

/** Returns the state at Stripe of each payment that is open here; null for one that Stripe does not know. */
export async function paymentFacts(
  account: StripeAccount,
  payment: { kind: 'topup' | 'subscription'; paymentId: string },
): Promise<ProviderFact[] | null> {
  try {
    const subject: Subject =
      payment.kind === 'topup'
        ? { kind: 'payment', id: payment.paymentId }
        : { kind: 'invoice', id: payment.paymentId };
    return await readFacts(account, subject);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}
