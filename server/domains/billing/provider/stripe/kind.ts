import type { PaymentProvider } from '../../../../contract/payment-provider.ts';
import type { StripeAccount } from './account.ts';

/** Stripe as the payment provider; `account` is for notifications and reconciliation. */
export type StripeProvider = PaymentProvider & { readonly kind: 'stripe'; readonly account: StripeAccount };

/**
 * Returns whether the deployment's provider is Stripe. Whoever asks imports what needs Stripe's SDK afterwards: its
 * 200 modules take 85 ms of every start.
 */
export function isStripe(provider: PaymentProvider): provider is StripeProvider {
  return provider.kind === 'stripe';
}
