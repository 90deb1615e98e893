import type { PlanRow } from './plan.ts';

/** The workspace that the provider bills. */
export type BillingCustomer = {
  tenantId: string;
  tenantName: string;
  email: string;
  /** The provider's own id of the customer, once it has one. */
  customerId: string | null;
};

/** A discount on a plan, as its code defines it. */
export type AppliedDiscount = {
  code: string;
  kind: 'percent' | 'amount';
  /** Percent, or minor units. */
  value: number;
  currency: string | null;
  months: number | null;
  /** The provider's promotion code; null if the code is not one of the provider's. */
  promotionId: string | null;
};

/** The state of a subscription at the provider; times in ms since the epoch. */
export type ProviderSubscription = {
  customerId: string | null;
  subscriptionId: string | null;
  planCode: string;
  status: 'active' | 'trialing' | 'past_due' | 'incomplete' | 'cancelled';
  period: { from: number; to: number };
  trialEndsAt: number | null;
  cancelAtPeriodEnd: boolean;
  pendingPlanCode: string | null;
  /** Grows with every change at the provider: an older state never replaces a newer one. */
  version: number;
  /** The payment that the browser must confirm before the subscription is active; null if there is none. */
  checkout: { kind: 'payment' | 'setup'; clientSecret: string } | null;
};

/** A subscription as the caller knows it. `paid`: the amount charged for the time from then to the period's end, in minor units. */
export type SubscriptionRef = ProviderSubscription & {
  customer: BillingCustomer;
  plan: PlanRow;
  paid?: { from: number; amount: number };
};

export type ChangeQuote = {
  effectiveAt: number;
  currency: string;
  amountDue: number;
  lines: { description: string; amount: number }[];
};

export type ProviderPayment = {
  paymentId: string;
  customerId: string | null;
  status: 'pending' | 'succeeded' | 'failed' | 'cancelled';
  checkout: { kind: 'payment'; clientSecret: string } | null;
  /** Instructions for people, if nothing is confirmed in the browser. */
  instructions: string | null;
};

/**
 * A notification from the provider. Notifications may arrive in any order; when `apply` settles, each has
 * been applied exactly once.
 */
export type ProviderFact =
  | { type: 'subscription'; tenantId: string; subscription: ProviderSubscription; at: number }
  | {
      type: 'payment';
      tenantId: string;
      kind: 'topup' | 'subscription';
      paymentId: string;
      status: 'pending' | 'succeeded' | 'failed' | 'cancelled';
      amount: number;
      currency: string;
      description: string;
      invoiceUrl: string | null;
      at: number;
    }
  /** `refundedAmount`: the total of all refunds, in minor units. */
  | { type: 'refund'; tenantId: string; paymentId: string; refundedAmount: number; at: number };

/**
 * A payment provider (docs/specification/billing.md#payment-providers). A call that is repeated after a lost answer has the same
 * `key`, so that the provider treats both calls as one. Every method may reject with AppError 503 `payment_provider_unavailable`,
 * or 422 with the reason for which the provider refused.
 */
export interface PaymentProvider {
  readonly kind: 'manual' | 'stripe';
  /** For the browser; null if the browser has nothing to confirm. */
  readonly publishableKey: string | null;
  startTrial(
    customer: BillingCustomer,
    plan: PlanRow,
    options: { trialEndsAt: number; key: string },
  ): Promise<ProviderSubscription>;
  subscribe(
    customer: BillingCustomer,
    plan: PlanRow,
    options: { discount: AppliedDiscount | null; replaces: string | null; key: string },
  ): Promise<ProviderSubscription>;
  quoteChange(
    subscription: SubscriptionRef,
    plan: PlanRow,
    options: { when: 'now' | 'period_end'; discount: AppliedDiscount | null },
  ): Promise<ChangeQuote>;
  /** Changes to the current plan: cancels a change or a cancellation that was scheduled for the period's end. */
  changePlan(
    subscription: SubscriptionRef,
    plan: PlanRow,
    options: { when: 'now' | 'period_end'; discount: AppliedDiscount | null; key: string },
  ): Promise<ProviderSubscription>;
  cancel(subscription: SubscriptionRef, options: { atPeriodEnd: boolean; key: string }): Promise<ProviderSubscription>;
  /** Ends the trial and starts the paid subscription. */
  convertTrial(subscription: SubscriptionRef, options: { key: string }): Promise<ProviderSubscription>;
  /** Changes the end of a trial. */
  extendTrial(
    subscription: SubscriptionRef,
    options: { trialEndsAt: number; key: string },
  ): Promise<ProviderSubscription>;
  /** Applies a discount to an active subscription, from its next invoice on. It replaces any other discount. */
  applyDiscount(
    subscription: SubscriptionRef,
    options: { discount: AppliedDiscount; key: string },
  ): Promise<ProviderSubscription>;
  /**
   * Returns the discount of the provider's own promotion code, if this customer (null: unknown to the provider) may use it on
   * this plan now; otherwise null. `code` is in upper case, and the provider ignores case. The provider enforces the code's
   * limits; `promotionId` identifies it.
   */
  findPromotion(code: string, options: { plan: PlanRow; customerId: string | null }): Promise<AppliedDiscount | null>;
  topUp(
    customer: BillingCustomer,
    options: { amount: number; currency: string; description: string; key: string },
  ): Promise<ProviderPayment>;
  close(): Promise<void>;
}
