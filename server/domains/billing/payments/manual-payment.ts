import { newId } from '../../../platform/ids.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import { insertPayment, type PaymentRow } from './store.ts';

export type PaymentRequest = Pick<
  PaymentRow,
  'tenantId' | 'kind' | 'amount' | 'currency' | 'credits' | 'description' | 'requestedBy'
> & { at: number };

/** Requests a payment that an operator confirms. Returns its id; null if there is nothing to pay. */
export async function createManualPayment(db: Queryable, { at, ...request }: PaymentRequest): Promise<string | null> {
  if (request.amount === 0) return null;
  const id = newId();
  await insertPayment(db, {
    ...request,
    id,
    status: 'pending',
    refundedAmount: 0,
    provider: 'manual',
    providerPaymentId: null,
    invoiceUrl: null,
    createdAt: at,
    settledAt: null,
  });
  return id;
}
