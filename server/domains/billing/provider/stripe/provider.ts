import type { StripeSettings } from '../../../../operation/billing-settings.ts';
import type { Services } from '../../../../operation/services.ts';
import { createAccount, type StripeAccount } from './account.ts';
import { applyDiscount, changePlan, quoteChange } from './change-plan.ts';
import { createStripeClient } from './client.ts';
import { findPromotion } from './discounts.ts';
import { translateError } from './errors.ts';
import type { StripeProvider } from './kind.ts';
import { cancel, convertTrial, extendTrial, startTrial, subscribe } from './subscriptions.ts';
import { topUp } from './topups.ts';

/** Creates the payment provider that calls Stripe (docs/billing.md, Stripe). Connects at the first use. */
export function createStripeProvider(
  services: Pick<Services, 'config' | 'clock' | 'logger' | 'pool'>,
  settings: StripeSettings,
): StripeProvider {
  const { config, clock, logger, pool } = services;
  const client = createStripeClient(settings);
  const account = createAccount({
    stripe: client.stripe,
    pool,
    clock,
    logger,
    productCode: config.billing.productCode,
  });
  /** Wraps a use case, converting Stripe's errors to ours. */
  const translatingErrors =
    <Arguments extends unknown[], Result>(call: (account: StripeAccount, ...rest: Arguments) => Promise<Result>) =>
    async (...rest: Arguments): Promise<Result> => {
      try {
        return await call(account, ...rest);
      } catch (error) {
        throw translateError(error, logger);
      }
    };
  return {
    kind: 'stripe',
    publishableKey: settings.publishableKey,
    account,
    startTrial: translatingErrors(startTrial),
    subscribe: translatingErrors(subscribe),
    quoteChange: translatingErrors(quoteChange),
    changePlan: translatingErrors(changePlan),
    cancel: translatingErrors(cancel),
    convertTrial: translatingErrors(convertTrial),
    extendTrial: translatingErrors(extendTrial),
    applyDiscount: translatingErrors(applyDiscount),
    topUp: translatingErrors(topUp),
    findPromotion: translatingErrors(findPromotion),
    close: client.close,
  };
}
