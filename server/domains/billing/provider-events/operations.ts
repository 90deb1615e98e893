import { z } from 'zod';
import type { PublicContext } from '../../../operation/context.ts';
import { rawOperation } from '../../../operation/operation.ts';
import { notFound } from '../../../platform/errors.ts';
import { isStripe } from '../provider/stripe/kind.ts';

/** An event with its object takes a few kilobytes; an invoice with many lines takes some hundred at most. */
const MAX_EVENT_BYTES = 1024 * 1024;

/** The operation that Stripe calls. */
export const stripeOperations = [
  rawOperation({
    name: 'billing_provider_webhook',
    method: 'POST',
    path: '/v1/billing/provider-webhook',
    status: 200,
    tag: 'Billing',
    feature: 'billing',
    summary: 'Receive an event of the payment provider; only Stripe calls it',
    description: `An event of Stripe's, as its webhook endpoints send them (docs/billing.md), signed in \`Stripe-Signature\` over the raw bytes of the
body, at most five minutes ago. Each event is applied once, in any order and however often it arrives; other events are received and ignored.
404 where payments are not Stripe's; 503 asks Stripe to send the event again.`,
    access: 'public',
    input: z.strictObject({}),
    output: z.strictObject({ received: z.literal(true) }),
    errors: [401, 404, 503],
    headers: ['Stripe-Signature'],
    raw: { limit: MAX_EVENT_BYTES },
    run: receive,
  }),
] as const;

/** Receives a request that anybody may send, so it loads Stripe's SDK (8 MB) only if Stripe is the provider. */
async function receive(ctx: PublicContext): Promise<{ received: true }> {
  const { payments, config } = ctx.services;
  const settings = config.billing.stripe;
  if (settings === null || !isStripe(payments)) throw notFound('The webhook of the payment provider');
  const { receiveEvent } = await import('./webhook.ts');
  return receiveEvent(ctx, { secret: settings.webhookSecret, account: payments.account });
}
