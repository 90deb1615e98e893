import type { ActionPrices } from '../orchestrator/ports/billable-actions.ts';

/**
 * A plan of the catalog, keyed by (productCode, planCode) (docs/specification/billing.md#plans). Credits in
 * microcredits, money in minor units.
 */
export type PlanRow = {
  productCode: string;
  planCode: string;
  paymentPriceId: string | null;
  amount: number;
  currency: string;
  interval: 'day' | 'week' | 'month' | 'year';
  intervalCount: number;
  productName: string;
  trialEnabled: boolean;
  trialRequiresCard: boolean;
  trialDays: number;
  trialCredits: number;
  includedCredits: number;
  onboardingDefault: boolean;
  selfServeOnboarding: boolean;
  prices: ActionPrices;
  position: number;
  retired: boolean;
};

/** The limits of a top-up, and the credits that it buys; money in minor units. */
export type TopUpTerms = {
  currency: string;
  minimumAmount: number;
  maximumAmount: number;
  microcreditsPerMinorUnit: number;
};
