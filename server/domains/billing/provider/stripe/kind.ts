import type { PaymentProvider } from '../../../../operation/payment-provider.ts';
import type { StripeAccount } from './account.ts';

/** Stripe as the payment provider. Notifications and reconciliation use `account`. */
export type StripeProvider = PaymentProvider & { readonly kind: 'stripe'; readonly account: StripeAccount };

/**
 * Returns whether the deployment's provider is Stripe. Callers import modules that need Stripe's SDK only after this
 * check: its 200 modules would add 85 ms to every start.
 */
export function isStripe(provider: PaymentProvider): provider is StripeProvider {
  return provider.kind === 'stripe';
}
