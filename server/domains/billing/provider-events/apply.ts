import type { ProviderFact, ProviderSubscription } from '../../../operation/payment-provider.ts';
import type { Services } from '../../../operation/services.ts';
import { cost } from '../../../orchestrator/ports/microcredits.ts';
import { newId } from '../../../platform/ids.ts';
import { insertPayment, lockProviderPayment, type PaymentRow, updatePayment } from '../payments/store.ts';
import { findPlan } from '../plans/store.ts';
import { giveUp, refund, succeed } from '../settlement/settle.ts';
import { applyProviderState } from '../subscriptions/apply-provider-state.ts';
import { changeSubscription, type Held } from '../subscriptions/change.ts';
import { followsProvider, hasTenant, type SubscriptionRow } from '../subscriptions/store.ts';

export type Outcome = 'applied' | 'stale' | 'ignored';

type FactServices = Pick<Services, 'pool' | 'clock' | 'config' | 'orchestrator' | 'payments' | 'topUp'>;

/**
 * Applies a notification of the provider. Facts are states, not changes, so they may arrive twice, late, or in any
 * order: `stale` is older than the known state, `ignored` belongs to no workspace here. Throws if the database is
 * unavailable: the fact must then be sent again.
 */
export async function applyProviderFact(services: FactServices, fact: ProviderFact): Promise<Outcome> {
  if (!(await hasTenant(services.pool, fact.tenantId))) return 'ignored';
  return await changeSubscription(services, fact.tenantId, async held => {
    switch (fact.type) {
      case 'subscription':
        return await applySubscription(services, held, fact.subscription);
      case 'payment':
        return await applyPayment(services, held, fact);
      case 'refund':
        return await applyRefund(services, held, fact);
    }
  });
}

async function applySubscription(services: FactServices, held: Held, next: ProviderSubscription): Promise<Outcome> {
  const { db, row, at } = held;
  if (next.version < row.version) return 'stale';
  if (!concerns(row, next)) return 'ignored';
  if ((await findPlan(db, row.productCode, { plan_code: next.planCode })) === null) return 'ignored';
  const { billing } = services.config;
  await applyProviderState({ db, billing, provider: services.payments.kind, at }, row, next);
  return 'applied';
}

/**
 * Returns whether a state belongs to the workspace's subscription, or to one that replaces it. A newer live
 * subscription replaces the present one. The replaced one then ends at the provider too, and its end must not end the
 * new one.
 */
function concerns(row: SubscriptionRow, next: ProviderSubscription): boolean {
  if (row.subscriptionId === next.subscriptionId) return true;
  if (next.status === 'cancelled') return false;
  return next.status !== 'incomplete' || !(followsProvider(row) || row.subscriptionId !== null);
}

type PaymentFact = Extract<ProviderFact, { type: 'payment' }>;

async function applyPayment(services: FactServices, { db, row, at }: Held, fact: PaymentFact): Promise<Outcome> {
  const provider = services.payments.kind;
  const known = await lockProviderPayment(db, row.tenantId, provider, fact.paymentId);
  const payment = known ?? (await insertReportedPayment(services, { db, row, at }, fact));
  switch (fact.status) {
    case 'pending':
      return known === null ? 'applied' : 'ignored';
    case 'succeeded': {
      const settled = await succeed(db, payment, fact.at);
      if (settled !== payment && fact.invoiceUrl !== null && settled.invoiceUrl !== fact.invoiceUrl)
        await updatePayment(db, { ...settled, invoiceUrl: fact.invoiceUrl });
      return settled === payment && known !== null ? 'stale' : 'applied';
    }
    case 'failed':
    case 'cancelled': {
      const settled = await giveUp(db, payment, fact.status, fact.at);
      return settled === payment && known !== null ? 'stale' : 'applied';
    }
  }
}

/** Inserts a payment that Baton did not request (an invoice), or whose request was lost on our side. */
async function insertReportedPayment(
  { payments, topUp }: FactServices,
  { db, row }: Held,
  fact: PaymentFact,
): Promise<PaymentRow> {
  const { kind, amount, currency } = fact;
  const buys = kind === 'topup' && currency === topUp.currency;
  const payment: PaymentRow = {
    id: newId(),
    tenantId: row.tenantId,
    kind,
    status: 'pending',
    amount,
    currency,
    credits: buys ? cost(amount, topUp.microcreditsPerMinorUnit) : 0,
    refundedAmount: 0,
    description: fact.description,
    provider: payments.kind,
    providerPaymentId: fact.paymentId,
    invoiceUrl: fact.invoiceUrl,
    requestedBy: null,
    createdAt: fact.at,
    settledAt: null,
  };
  await insertPayment(db, payment);
  return payment;
}

async function applyRefund(
  services: FactServices,
  { db, row }: Held,
  fact: Extract<ProviderFact, { type: 'refund' }>,
): Promise<Outcome> {
  const payment = await lockProviderPayment(db, row.tenantId, services.payments.kind, fact.paymentId);
  if (payment === null) return 'ignored';
  // A refund is reported separately from its payment: a refunded payment that is not known as paid has been paid.
  const paid = await succeed(db, payment, fact.at);
  const refunded = await refund(db, paid, Math.min(fact.refundedAmount, paid.amount), fact.at);
  return refunded === payment ? 'stale' : 'applied';
}
