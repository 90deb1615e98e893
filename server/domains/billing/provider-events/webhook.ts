import Stripe from 'stripe';
import type { PublicContext } from '../../../operation/context.ts';
import { AppError, badRequest } from '../../../platform/errors.ts';
import type { StripeAccount } from '../provider/stripe/account.ts';
import { applyEvent } from './apply-event.ts';
import { StripeEvent } from './event.ts';

/** The maximum age of a signature, s: Stripe signs each delivery again, and its own libraries use the same limit. */
const TOLERANCE_S = 300;

/**
 * POST /v1/billing/provider-webhook: verifies Stripe's signature over the raw bytes, then applies the event. 401 for
 * every bad signature, with the same answer. 503 if the event cannot be applied now, so that Stripe sends it again.
 */
export async function receiveEvent(
  { services, raw, headers }: PublicContext,
  { secret, account }: { secret: string; account: StripeAccount },
): Promise<{ received: true }> {
  if (raw === undefined) throw new Error('The webhook was invoked without the bytes of its body.');
  const body = await raw.body();
  const event = openEvent(body, headers.get('stripe-signature'), secret, services.clock.now());
  // The sender is now known to be Stripe, whose deliveries come from few addresses.
  await raw.countAs('provider:stripe');
  await applyEvent(services, account, event);
  return { received: true };
}

/**
 * Returns the event in `body` after verifying its signature. Throws AppError 401 for a bad signature, 400 for signed
 * content that is not an event.
 */
function openEvent(body: Uint8Array, header: string | undefined, secret: string, now: number): StripeEvent {
  let json: unknown;
  try {
    json = Stripe.webhooks.constructEvent(Buffer.from(body), header ?? '', secret, TOLERANCE_S, undefined, now);
  } catch (error) {
    if (error instanceof Stripe.errors.StripeSignatureVerificationError)
      throw new AppError(401, 'bad_signature', 'The signature is missing, invalid or too old.');
    throw badRequest('The request body is not JSON.');
  }
  const parsed = StripeEvent.safeParse(json);
  if (!parsed.success) throw badRequest('The request body is not a Stripe event.');
  return parsed.data;
}
