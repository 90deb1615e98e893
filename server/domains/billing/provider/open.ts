import type { PaymentProvider } from '../../../operation/payment-provider.ts';
import type { Services } from '../../../operation/services.ts';
import { createManualProvider } from './manual.ts';

/**
 * Creates the payment provider of the deployment. Loads Stripe's SDK only if Stripe is the provider: its 200 modules
 * take 85 ms of a start.
 */
export async function openProvider(
  services: Pick<Services, 'config' | 'clock' | 'logger' | 'pool'>,
): Promise<PaymentProvider> {
  const { stripe } = services.config.billing;
  if (stripe === null) return createManualProvider(services);
  const { createStripeProvider } = await import('./stripe/provider.ts');
  return createStripeProvider(services, stripe);
}
