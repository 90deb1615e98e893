import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { ConfigError } from '../../../operation/config.ts';
import type { PlanRow, TopUpTerms } from '../../../operation/plan.ts';
import { PlainText } from '../../../operation/wire.ts';
import { perAction } from '../../../orchestrator/ports/billable-actions.ts';
import { Currency, Microcredits } from '../schemas.ts';

/** The plans that a deployment sells before an operator changes anything. */
export type Catalog = { topUp: TopUpTerms; plans: PlanRow[] };

/** The database stores prices as 32-bit integers: twenty million dollars per period. */
const Price = z.number().int().min(0).max(2_147_483_647);
const Code = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'must be lower-case letters, digits, - and _');

/** A plan as written in the file and in the operator's command. */
export const PlanFields = z
  .strictObject({
    product_code: Code,
    plan_code: Code,
    payment_price_id: PlainText(200).min(1).optional(),
    amount: Price,
    currency: Currency,
    interval: z.enum(['day', 'week', 'month', 'year']),
    interval_count: z.number().int().min(1).max(36),
    product_name: PlainText(100).min(1),
    trial_enabled: z.boolean(),
    trial_requires_card: z.boolean(),
    trial_days: z.number().int().min(0).max(730),
    trial_credits: Microcredits,
    included_credits: Microcredits,
    onboarding_default: z.boolean(),
    self_serve_onboarding: z.boolean(),
    prices: z.strictObject(perAction(() => Microcredits)),
  })
  .superRefine((plan, context) => {
    const problem = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    if (plan.trial_enabled && plan.trial_days === 0) problem('trial_days', 'must be at least 1 where there is a trial');
    if (plan.onboarding_default && plan.amount !== 0) problem('amount', 'must be 0 for the onboarding default');
    if (plan.onboarding_default && plan.trial_enabled)
      problem('trial_enabled', 'must be false for the onboarding default: everyone has it already');
    if (plan.amount === 0 && plan.payment_price_id !== undefined)
      problem('payment_price_id', 'must be absent on a free plan');
  });
export type PlanFields = z.output<typeof PlanFields>;

const CatalogFile = z.strictObject({
  topup: z
    .strictObject({
      currency: Currency,
      minimum_amount: Price.min(1),
      maximum_amount: Price,
      microcredits_per_minor_unit: Microcredits.min(1),
    })
    .refine(({ minimum_amount, maximum_amount }) => minimum_amount <= maximum_amount, {
      path: ['maximum_amount'],
      message: 'must be at least minimum_amount',
    })
    .refine(
      ({ maximum_amount, microcredits_per_minor_unit }) =>
        Number.isSafeInteger(maximum_amount * microcredits_per_minor_unit),
      {
        path: ['microcredits_per_minor_unit'],
        message: 'must keep the largest top-up within what a workspace may have',
      },
    ),
  plans: z.array(PlanFields).min(1),
});

const builtIn = fileURLToPath(new URL('./catalog.json', import.meta.url));

/**
 * Returns the catalog in `plansFile`, or the one that comes with Baton. Throws ConfigError listing everything that
 * is wrong with it: malformed entries, duplicate plans or prices, and products, including `productCode`, without
 * exactly one onboarding default.
 */
export function readCatalog({ plansFile, productCode }: { plansFile: string | null; productCode: string }): Catalog {
  const named = plansFile === null ? builtIn : plansFile;
  const parsed = CatalogFile.safeParse(parseFile(named));
  if (!parsed.success) {
    const lines = parsed.error.issues.map(({ path, message }) => `  ${path.join('.') || '(whole file)'}: ${message}`);
    throw unusable(named, lines);
  }
  const { topup, plans } = parsed.data;
  const problems = contradictions(plans, productCode);
  if (problems.length > 0) throw unusable(named, problems);
  return {
    topUp: {
      currency: topup.currency,
      minimumAmount: topup.minimum_amount,
      maximumAmount: topup.maximum_amount,
      microcreditsPerMinorUnit: topup.microcredits_per_minor_unit,
    },
    plans: plans.map((plan, position) => ({ ...toPlanRow(plan), position, retired: false })),
  };
}

function parseFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw unusable(path, [`  ${error instanceof Error ? error.message : String(error)}`]);
  }
}

const unusable = (path: string, lines: string[]) =>
  new ConfigError(`BATON_PLANS_FILE: the plans in ${path} cannot be used:\n${lines.join('\n')}`);

function contradictions(plans: readonly PlanFields[], productCode: string): string[] {
  const products = Map.groupBy(plans, plan => plan.product_code);
  const problems = products.has(productCode) ? [] : [`  plans: there is none of the product ${productCode}`];
  for (const [product, own] of products) {
    for (const key of ['plan_code', 'payment_price_id'] as const) {
      const values = own.flatMap(plan => plan[key] ?? []);
      for (const twice of new Set(values.filter((value, at) => values.indexOf(value) !== at)))
        problems.push(`  plans: ${product} has the ${key} ${twice} twice`);
    }
    const defaults = own.filter(plan => plan.onboarding_default).length;
    if (defaults !== 1) problems.push(`  plans: ${product} needs one onboarding_default, not ${defaults}`);
  }
  return problems;
}

/** Converts the parsed file to the types of the code. */
export function toPlanRow(plan: PlanFields): Omit<PlanRow, 'position' | 'retired'> {
  return {
    productCode: plan.product_code,
    planCode: plan.plan_code,
    paymentPriceId: plan.payment_price_id ?? null,
    amount: plan.amount,
    currency: plan.currency,
    interval: plan.interval,
    intervalCount: plan.interval_count,
    productName: plan.product_name,
    trialEnabled: plan.trial_enabled,
    trialRequiresCard: plan.trial_requires_card,
    trialDays: plan.trial_days,
    trialCredits: plan.trial_credits,
    includedCredits: plan.included_credits,
    onboardingDefault: plan.onboarding_default,
    selfServeOnboarding: plan.self_serve_onboarding,
    prices: plan.prices,
  };
}

/** Converts a plan back, for the operator's command and the history of changes. */
export function toPlanFields(plan: PlanRow): PlanFields {
  return {
    product_code: plan.productCode,
    plan_code: plan.planCode,
    ...(plan.paymentPriceId === null ? {} : { payment_price_id: plan.paymentPriceId }),
    amount: plan.amount,
    currency: plan.currency,
    interval: plan.interval,
    interval_count: plan.intervalCount,
    product_name: plan.productName,
    trial_enabled: plan.trialEnabled,
    trial_requires_card: plan.trialRequiresCard,
    trial_days: plan.trialDays,
    trial_credits: plan.trialCredits,
    included_credits: plan.includedCredits,
    onboarding_default: plan.onboardingDefault,
    self_serve_onboarding: plan.selfServeOnboarding,
    prices: { ...plan.prices },
  };
}
