import { conflict, invalid } from '../../../platform/errors.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import { grantCredits, reverseGrant } from '../ledger/post.ts';
import { share } from '../payments/proration.ts';
import { type PaymentRow, updatePayment } from '../payments/store.ts';
import { paidReference, periodOfPayment, periodReference, periodsAwaiting } from '../subscriptions/journal-store.ts';
import { grantPaidPeriods } from '../subscriptions/periods.ts';

/**
 * Marks a payment as succeeded, and grants its credits. `payment` is locked. A status only advances: pending, then
 * succeeded, failed or cancelled; a succeeded payment may be refunded, partly or completely. (A failed one may still
 * succeed: cards are tried again.) Repeated or late notifications change nothing.
 */
export async function succeed(db: Queryable, payment: PaymentRow, at: number): Promise<PaymentRow> {
  if (payment.status === 'succeeded' || payment.status === 'refunded') return payment;
  const settled: PaymentRow = { ...payment, status: 'succeeded', settledAt: at };
  await updatePayment(db, settled);
  if (payment.kind === 'topup') {
    await grantCredits(db, {
      tenantId: payment.tenantId,
      account: 'payg',
      amount: payment.credits,
      expiresAt: null,
      source: 'topup',
      reference: referenceOf(payment),
      note: payment.description,
      at,
    });
  } else {
    await grantPaidPeriods(db, payment, at);
  }
  return settled;
}

/**
 * Marks a payment as failed or cancelled. For a subscription's payment, the remaining credits
 * of the period are reversed.
 */
export async function giveUp(
  db: Queryable,
  payment: PaymentRow,
  status: 'failed' | 'cancelled',
  at: number,
): Promise<PaymentRow> {
  if (payment.status !== 'pending' && payment.status !== 'failed') return payment;
  if (payment.status === status) return payment;
  const settled: PaymentRow = { ...payment, status, settledAt: at };
  await updatePayment(db, settled);
  if (status === 'cancelled') await reverseShare(db, payment, 0, payment.amount, at);
  return settled;
}

/**
 * Refunds up to `refundedAmount` minor units in total, and reverses the same share of the credits, up to the remaining
 * ones. Throws AppError 422 for more than was paid, 409 if nothing was paid.
 */
export async function refund(
  db: Queryable,
  payment: PaymentRow,
  refundedAmount: number,
  at: number,
): Promise<PaymentRow> {
  if (payment.status !== 'succeeded' && payment.status !== 'refunded')
    throw conflict('not_paid', `This payment is ${payment.status}: there is nothing to refund.`);
  if (refundedAmount > payment.amount)
    throw invalid('The refund exceeds the payment.', undefined, 'refund_exceeds_payment');
  if (refundedAmount <= payment.refundedAmount) return payment;
  const status = refundedAmount === payment.amount ? 'refunded' : 'succeeded';
  const refunded: PaymentRow = { ...payment, status, refundedAmount };
  await updatePayment(db, refunded);
  await reverseShare(db, payment, payment.refundedAmount, refundedAmount, at);
  return refunded;
}

const referenceOf = ({ id }: PaymentRow) => `payment:${id}`;

/**
 * Reverses the credits for the money between `before` and `after`, rounded so that a full
 * refund reverses the full grant.
 */
async function reverseShare(
  db: Queryable,
  payment: PaymentRow,
  before: number,
  after: number,
  at: number,
): Promise<void> {
  const { tenantId, amount } = payment;
  for (const { reference, credits } of await grantsOf(db, payment)) {
    const taken = share(credits, after, amount) - share(credits, before, amount);
    if (taken === 0) continue;
    await reverseGrant(db, {
      tenantId,
      reference,
      amount: taken,
      kindReference: `refund:${payment.id}:${after}:${reference}`,
      note: `Not paid: ${payment.description}`,
      at,
    });
  }
}

type PaidGrant = { reference: string; credits: number };

/**
 * Returns the grants of a payment: those of its period, and of cheaper plans that started within the period and cost
 * nothing. Invoices of a provider name no period; for them, an operator ends the subscription.
 */
async function grantsOf(db: Queryable, payment: PaymentRow): Promise<PaidGrant[]> {
  const { tenantId, id, credits } = payment;
  if (payment.kind === 'topup')
    return payment.status === 'pending' ? [] : [{ reference: referenceOf(payment), credits }];
  const awaiting = (await periodsAwaiting(db, tenantId, id)).filter(
    ({ paymentId }) => paymentId === id || paymentId === null,
  );
  if (awaiting.length > 0)
    return awaiting.map(period => ({ reference: paidReference(tenantId, period), credits: period.credits ?? 0 }));
  // Periods of older releases did not wait for their payment: their credits were granted when they started.
  const period = await periodOfPayment(db, tenantId, id);
  return period === null ? [] : [{ reference: periodReference(tenantId, period), credits }];
}
