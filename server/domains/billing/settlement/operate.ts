import type { Services } from '../../../operation/services.ts';
import { conflict, notFound } from '../../../platform/errors.ts';
import { isId } from '../../../platform/ids.ts';
import { findPayment, lockPayment, type PaymentRow } from '../payments/store.ts';
import { applyProviderEnd } from '../subscriptions/apply-provider-state.ts';
import { changeSubscription, type Held } from '../subscriptions/change.ts';
import { periodOfPayment } from '../subscriptions/journal-store.ts';
import { giveUp, refund, succeed } from './settle.ts';

export type OperatorServices = Pick<
  Services,
  'pool' | 'clock' | 'config' | 'logger' | 'orchestrator' | 'payments' | 'topUp'
>;

/** Confirms a manual payment, and grants once the credits of its top-up or of its subscription's period. Throws AppError 404, 409. */
export function confirmPayment(services: OperatorServices, id: string): Promise<PaymentRow> {
  return operate(services, id, async ({ db, at }, payment) => {
    if (payment.status === 'succeeded') return payment;
    if (payment.status !== 'pending') throw conflict('not_pending', `This payment is ${payment.status}.`);
    return await succeed(db, payment, at);
  });
}

/**
 * Cancels a payment that was not made. For a subscription's payment, reverses the remaining credits of the period, and
 * ends the subscription if that period is the current one. Throws AppError 404, 409.
 */
export function cancelPayment(services: OperatorServices, id: string): Promise<PaymentRow> {
  return operate(services, id, async (held, payment) => {
    const { db, row, at } = held;
    if (payment.status === 'cancelled') return payment;
    if (payment.status !== 'pending') throw conflict('not_pending', `This payment is ${payment.status}.`);
    const cancelled = await giveUp(db, payment, 'cancelled', at);
    const period = await periodOfPayment(db, payment.tenantId, payment.id);
    if (period !== null && period.subscriptionId === row.subscriptionId && period.to === row.period.to)
      await applyProviderEnd(db, services.config.billing, row, at);
    return cancelled;
  });
}

/**
 * Refunds another `amount` minor units (default: the whole payment), and reverses the same share of the credits, up to
 * the remaining ones. Throws AppError 404, 409, 422.
 */
export function refundPayment(services: OperatorServices, id: string, amount: number | null): Promise<PaymentRow> {
  return operate(services, id, ({ db, at }, payment) =>
    refund(db, payment, amount === null ? payment.amount : payment.refundedAmount + amount, at),
  );
}

async function operate(
  services: OperatorServices,
  id: string,
  work: (held: Held, payment: PaymentRow) => Promise<PaymentRow>,
): Promise<PaymentRow> {
  const found = isId(id) ? await findPayment(services.pool, id) : null;
  if (found === null) throw notFound('Payment');
  if (found.provider !== 'manual')
    throw conflict('settled_by_provider', `This payment belongs to ${found.provider}: change it there.`);
  return await changeSubscription(services, found.tenantId, async held => {
    const payment = await lockPayment(held.db, found.tenantId, id);
    if (payment === null) throw notFound('Payment');
    return await work(held, payment);
  });
}
