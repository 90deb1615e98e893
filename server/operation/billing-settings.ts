import { z } from 'zod';
import { optional, optionalHttpUrl } from '../platform/setting-types.ts';

export type StripeSettings = {
  secretKey: string;
  publishableKey: string;
  webhookSecret: string;
  /** Null: the address of Stripe itself. */
  apiUrl: string | null;
};

/**
 * `on`: credits are sold, and actions that cannot be paid for are refused. `metered`: usage is priced and charged, but
 * nothing is refused and the console sells nothing. `off`: like `metered`, but the API and the console have no billing.
 */
export const billingModes = ['off', 'metered', 'on'] as const;
export type BillingMode = (typeof billingModes)[number];

/** Former names of modes, which deployments may still use. */
const formerModes = { enforce: 'on', meter: 'metered' } as const;

export type BillingSettings = {
  mode: BillingMode;
  productCode: string;
  /** Null: Baton's own catalog. */
  plansFile: string | null;
  /** Null: the manual provider. */
  stripe: StripeSettings | null;
};

/** The environment variables of billing (docs/billing.md). */
export const billingSchema = z.object({
  /** Default: `metered` on the embedded database without Stripe and without its own plans, otherwise `on`. */
  BATON_BILLING: z
    .enum([...billingModes, 'enforce', 'meter'], 'must be off, metered or on')
    .transform(mode => (mode === 'enforce' || mode === 'meter' ? formerModes[mode] : mode))
    .optional(),
  /** The product whose plans this deployment sells. */
  BATON_PRODUCT_CODE: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'must be lower-case letters, digits, - and _')
    .default('baton'),
  /** A file in the form of server/domains/billing/plans/catalog.json. */
  BATON_PLANS_FILE: optional,
  /** Absent: payments are confirmed manually. */
  BATON_STRIPE_SECRET_KEY: optional,
  BATON_STRIPE_PUBLISHABLE_KEY: optional,
  BATON_STRIPE_WEBHOOK_SECRET: optional,
  BATON_STRIPE_API_URL: optionalHttpUrl,
});

/**
 * Returns the settings; `embedded`: the database is the embedded one. Calls `problem` for values that contradict each
 * other.
 */
export function billingSettings(
  env: z.output<typeof billingSchema>,
  { embedded }: { embedded: boolean },
  problem: (message: string) => void,
): BillingSettings {
  const { BATON_PLANS_FILE: plansFile, BATON_STRIPE_SECRET_KEY: stripeKey } = env;
  // An operator who configures plans or a payment provider sells credits, also on the embedded database.
  const ownUse = embedded && plansFile === undefined && stripeKey === undefined;
  const mode = env.BATON_BILLING ?? (ownUse ? 'metered' : 'on');
  if (mode === 'off' && stripeKey !== undefined)
    problem('BATON_BILLING: must not be off where BATON_STRIPE_SECRET_KEY is given: customers would pay unseen');
  return {
    mode,
    productCode: env.BATON_PRODUCT_CODE,
    plansFile: plansFile ?? null,
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
