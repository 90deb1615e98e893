import type { z } from 'zod';
import type { PaymentProvider, ProviderSubscription } from '../../../operation/payment-provider.ts';
import type { Checkout } from '../schemas.ts';

/** Returns the data that the browser has to confirm, for the wire; null if it has nothing to confirm. */
export const toCheckout = (
  { kind: provider }: Pick<PaymentProvider, 'kind'>,
  { checkout }: Pick<ProviderSubscription, 'checkout'>,
): z.input<typeof Checkout> | null =>
  checkout && { provider, kind: checkout.kind, client_secret: checkout.clientSecret };
