import type { PaymentProvider } from '../../../operation/payment-provider.ts';
import type { Services } from '../../../operation/services.ts';
import { createManualProvider } from './manual.ts';

/** Creates the payment provider of the deployment. Stripe's SDK is loaded only where it is needed: 200 modules, 85 ms of a start. */
export async function openProvider(
  services: Pick<Services, 'config' | 'clock' | 'logger' | 'pool'>,
): Promise<PaymentProvider> {
  const { stripe } = services.config.billing;
  if (stripe === null) return createManualProvider(services);
  const { createStripeProvider } = await import('./stripe/provider.ts');
  return createStripeProvider(services, stripe);
}
