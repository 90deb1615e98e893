import { z } from 'zod';
import { optional, optionalHttpUrl } from '../platform/setting-types.ts';

export type StripeSettings = {
  secretKey: string;
  publishableKey: string;
  webhookSecret: string;
  /** Null: Stripe's own. */
  apiUrl: string | null;
};

export type BillingSettings = {
  /** `enforce`: what cannot be paid is refused. `meter`: it is written down alone. */
  mode: 'enforce' | 'meter';
  productCode: string;
  /** Null: the catalogue that comes with Baton. */
  plansFile: string | null;
  /** Null: the manual provider. */
  stripe: StripeSettings | null;
};

/** The environment of billing (docs/billing.md). */
export const billingSchema = z.object({
  BATON_BILLING: z.enum(['enforce', 'meter']).default('enforce'),
  /** The product whose plans this deployment sells. */
  BATON_PRODUCT_CODE: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'must be lower-case letters, digits, - and _')
    .default('baton'),
  /** A file in the form of server/domains/billing/plans/catalogue.json. */
  BATON_PLANS_FILE: optional,
  /** Absent: payments are confirmed manually. */
  BATON_STRIPE_SECRET_KEY: optional,
  BATON_STRIPE_PUBLISHABLE_KEY: optional,
  BATON_STRIPE_WEBHOOK_SECRET: optional,
  BATON_STRIPE_API_URL: optionalHttpUrl,
});

/** Returns the settings; calls `problem` for values that contradict each other. */
export function billingSettings(
  env: z.output<typeof billingSchema>,
  problem: (message: string) => void,
): BillingSettings {
  return {
    mode: env.BATON_BILLING,
    productCode: env.BATON_PRODUCT_CODE,
    plansFile: env.BATON_PLANS_FILE ?? null,
    stripe: stripeSettings(env, problem),
  };
}

function stripeSettings(env: z.output<typeof billingSchema>, problem: (message: string) => void) {
  const {
    BATON_STRIPE_SECRET_KEY: secretKey,
    BATON_STRIPE_PUBLISHABLE_KEY: publishableKey,
    BATON_STRIPE_WEBHOOK_SECRET: webhookSecret,
  } = env;
  if (secretKey === undefined) {
    if (publishableKey !== undefined || webhookSecret !== undefined)
      problem('BATON_STRIPE_SECRET_KEY: is needed where another BATON_STRIPE_* is given');
    return null;
  }
  if (publishableKey === undefined) problem('BATON_STRIPE_PUBLISHABLE_KEY: is needed beside BATON_STRIPE_SECRET_KEY');
  if (webhookSecret === undefined) problem('BATON_STRIPE_WEBHOOK_SECRET: is needed beside BATON_STRIPE_SECRET_KEY');
  if (publishableKey === undefined || webhookSecret === undefined) return null;
  return { secretKey, publishableKey, webhookSecret, apiUrl: env.BATON_STRIPE_API_URL ?? null };
}
