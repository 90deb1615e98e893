import type { Pool } from 'pg';
import type Stripe from 'stripe';
import type { ProviderSubscription } from '../../../../operation/payment-provider.ts';
import type { Clock } from '../../../../platform/clock.ts';
import type { Logger } from '../../../../platform/logger.ts';
import { planCodeOfPrice } from './plan-price-store.ts';
import { nextPriceOf, priceOf, subscriptionState } from './state.ts';

/** Stripe's client, with what is needed to interpret its answers. */
export type StripeAccount = {
  stripe: Stripe;
  pool: Pool;
  clock: Clock;
  logger: Logger;
  productCode: string;
  /**
   * Returns the version of the next answer: the present time in ms, and always more than the previous version. Call
   * this before the request, so that of two answers the one that may be older has the lower version. Later changes at
   * Stripe cause separate events.
   */
  nextVersion(): number;
};

export function createAccount(parts: Omit<StripeAccount, 'nextVersion'>): StripeAccount {
  let last = 0;
  return {
    ...parts,
    nextVersion() {
      last = Math.max(last + 1, parts.clock.now());
      return last;
    },
  };
}

/** Converts a subscription (with `subscriptionExpand`) to Baton's form; null if no plan here has its price. */
export async function readState(
  account: StripeAccount,
  subscription: Stripe.Subscription,
  version: number,
): Promise<ProviderSubscription | null> {
  const price = priceOf(subscription);
  const nextPrice = nextPriceOf(subscription);
  const planOf = (id: string) => planCodeOfPrice(account.pool, account.productCode, id);
  const present = (price === null ? null : await planOf(price)) ?? subscription.metadata.plan_code ?? null;
  if (present === null) {
    account.logger.error({ subscription_id: subscription.id, price_id: price }, 'a price of Stripe is of no plan here');
    return null;
  }
  const next = nextPrice === null || nextPrice === price ? null : await planOf(nextPrice);
  return subscriptionState(subscription, { present, next }, version);
}
