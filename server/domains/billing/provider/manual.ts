import type {
  AppliedDiscount,
  ChangeQuote,
  PaymentProvider,
  ProviderSubscription,
  SubscriptionRef,
} from '../../../operation/payment-provider.ts';
import type { PlanRow } from '../../../operation/plan.ts';
import type { Clock } from '../../../platform/clock.ts';
import { conflict } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { formatMoney } from '../payments/money.ts';
import { priceOf, samePeriod, share } from '../payments/proration.ts';
import { nextPeriodStart } from '../plans/period.ts';

/**
 * The payment provider for deployments without an external one: changes take effect immediately, and their payment is
 * an invoice that an operator confirms (docs/billing.md, Manual payments). It stores nothing: its answers depend only
 * on its input and the time.
 */
export function createManualProvider({ clock }: { clock: Clock }): PaymentProvider & { readonly kind: 'manual' } {
  const beginning = (plan: PlanRow): ProviderSubscription => {
    const from = clock.now();
    return {
      customerId: null,
      subscriptionId: `manual_${newId()}`,
      planCode: plan.planCode,
      status: 'active',
      period: { from, to: nextPeriodStart(from, plan, from) },
      trialEndsAt: null,
      cancelAtPeriodEnd: false,
      pendingPlanCode: null,
      version: 0,
      checkout: null,
    };
  };
  return {
    kind: 'manual',
    publishableKey: null,
    async startTrial(_customer, plan, { trialEndsAt }) {
      const from = clock.now();
      return { ...beginning(plan), status: 'trialing', period: { from, to: trialEndsAt }, trialEndsAt };
    },
    async subscribe(_customer, plan) {
      return beginning(plan);
    },
    async quoteChange(subscription, plan, { when, discount }) {
      return quote(subscription, plan, when, discount, clock.now());
    },
    async changePlan(subscription, plan, { when }) {
      const unscheduled = { ...stateOf(subscription), cancelAtPeriodEnd: false, pendingPlanCode: null };
      if (plan.planCode === subscription.planCode) return unscheduled;
      if (when === 'period_end') return { ...unscheduled, pendingPlanCode: plan.planCode };
      if (samePeriod(subscription.plan, plan)) return { ...unscheduled, planCode: plan.planCode };
      return { ...beginning(plan), subscriptionId: subscription.subscriptionId };
    },
    async cancel(subscription, { atPeriodEnd }) {
      const state = { ...stateOf(subscription), pendingPlanCode: null };
      return atPeriodEnd ? { ...state, cancelAtPeriodEnd: true } : { ...state, status: 'cancelled' };
    },
    async convertTrial(subscription) {
      return { ...beginning(subscription.plan), subscriptionId: subscription.subscriptionId };
    },
    async extendTrial(subscription, { trialEndsAt }) {
      const { period } = subscription;
      return { ...stateOf(subscription), trialEndsAt, period: { from: period.from, to: trialEndsAt } };
    },
    async applyDiscount(subscription) {
      return stateOf(subscription);
    },
    async findPromotion() {
      return null;
    },
    async topUp(_customer, { amount, currency }) {
      const paymentId = `manual_${newId()}`;
      return {
        paymentId,
        customerId: null,
        status: 'pending',
        checkout: null,
        instructions: `Pay ${formatMoney(amount, currency)} as agreed with the operator of this service. You get the credits when they confirm the payment.`,
      };
    },
    async close() {},
  };
}

/** Returns the state of a subscription, without the customer, the plan and the payments. */
function stateOf({ customer: _customer, plan: _plan, paid: _paid, ...state }: SubscriptionRef) {
  return state satisfies ProviderSubscription;
}

/**
 * Returns the cost of a change. Now: the remaining time of the period is credited at the current plan's price and
 * charged at the new one's, each rounded down to the minor unit. If the new plan's periods have another length, a whole
 * new period starts now and is charged. A credit that exceeds the charge is not paid out. At the period's end: nothing
 * now.
 */
function quote(
  subscription: SubscriptionRef,
  plan: PlanRow,
  when: 'now' | 'period_end',
  discount: AppliedDiscount | null,
  now: number,
): ChangeQuote {
  const { period, plan: present, paid = { from: period.from, amount: present.amount } } = subscription;
  const { currency } = plan;
  if (when === 'period_end') return { effectiveAt: period.to, currency, amountDue: 0, lines: [] };
  if (currency !== present.currency)
    throw conflict('other_currency', 'A plan in another currency can only start at the end of the period.');
  const left = period.to - now;
  const credit = share(paid.amount, left, period.to - paid.from);
  const price = priceOf(plan, discount);
  const charge = samePeriod(present, plan) ? share(price, left, period.to - period.from) : price;
  const lines = [
    { description: `Unused time on ${present.productName}`, amount: -credit },
    {
      description: samePeriod(present, plan) ? `Remaining time on ${plan.productName}` : plan.productName,
      amount: charge,
    },
  ];
  if (credit > charge) lines.push({ description: 'Credit that is not paid out', amount: credit - charge });
  return { effectiveAt: now, currency, amountDue: Math.max(0, charge - credit), lines };
}
