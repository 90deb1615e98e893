import type { z } from 'zod';
import { isoTimestamp } from '../../../platform/clock.ts';
import type { Payment } from '../schemas.ts';
import type { PaymentRow } from './store.ts';

/** Returns a payment for the wire. */
export const toPaymentView = (payment: PaymentRow): z.input<typeof Payment> => ({
  id: payment.id,
  kind: payment.kind,
  status: payment.status,
  amount: payment.amount,
  currency: payment.currency,
  credits_microcredits: payment.credits,
  refunded_amount: payment.refundedAmount,
  description: payment.description,
  provider: payment.provider,
  invoice_url: payment.invoiceUrl,
  created_at: isoTimestamp(payment.createdAt),
  settled_at: payment.settledAt === null ? null : isoTimestamp(payment.settledAt),
});
