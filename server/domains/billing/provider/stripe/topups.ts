import type Stripe from 'stripe';
import type { BillingCustomer, ProviderPayment } from '../../../../operation/payment-provider.ts';
import type { StripeAccount } from './account.ts';
import { ownership, withCustomer } from './customers.ts';
import { idOf } from './state.ts';

/** The metadata that distinguishes Baton's payments from those that Stripe creates for invoices, and from others in the same account. */
export const topUpMark = { baton_payment: 'topup' } as const;

/** Requests a payment that the browser confirms; `amount` in minor units. */
export async function topUp(
  account: StripeAccount,
  customer: BillingCustomer,
  { amount, currency, description, key }: { amount: number; currency: string; description: string; key: string },
): Promise<ProviderPayment> {
  const intent = await withCustomer(account, customer, customerId =>
    account.stripe.paymentIntents.create(
      {
        amount,
        currency,
        description,
        customer: customerId,
        automatic_payment_methods: { enabled: true },
        metadata: { ...ownership(account, customer.tenantId), ...topUpMark, payment_key: key },
      },
      { idempotencyKey: `${key}:topup:${customerId}` },
    ),
  );
  const status = intentStatus(intent);
  return {
    paymentId: intent.id,
    customerId: idOf(intent.customer),
    status,
    checkout:
      status === 'succeeded' || status === 'cancelled' || intent.client_secret === null
        ? null
        : { kind: 'payment', clientSecret: intent.client_secret },
    instructions: null,
  };
}

/** Returns the status of an intent. A declined intent counts as failed, but another card may still pay it in the same form. */
export function intentStatus(intent: Stripe.PaymentIntent): ProviderPayment['status'] {
  switch (intent.status) {
    case 'succeeded':
      return 'succeeded';
    case 'canceled':
      return 'cancelled';
    case 'requires_payment_method':
      return intent.last_payment_error === null ? 'pending' : 'failed';
    default:
      return 'pending';
  }
}
