import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { cutPage, decodeCursor, TimeIdKey } from '../../../operation/cursor.ts';
import { isoTimestamp } from '../../../platform/clock.ts';
import { type CsvColumn, writeCsv } from '../../../platform/csv.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import type { ExportPaymentsInput, ListPaymentsInput, ListPaymentsOutput } from '../schemas.ts';
import { listPayments, type PaymentFilter, type PaymentRow } from './store.ts';
import { toPaymentView } from './view.ts';

/** GET /v1/billing/payment-history: the payments, newest first. */
export async function paymentHistory(
  { principal, services }: Context,
  { limit, cursor, ...filters }: z.output<typeof ListPaymentsInput>,
): Promise<z.input<typeof ListPaymentsOutput>> {
  const key = decodeCursor(TimeIdKey, cursor);
  const rows = await listPayments(services.pool, {
    ...toFilter(principal.tenantId, filters),
    after: key === null ? undefined : { at: key[0], id: key[1] },
    limit: limit + 1,
  });
  const page = cutPage(rows, limit, row => [row.createdAt, row.id]);
  return { payments: page.rows.map(toPaymentView), next_cursor: page.next_cursor };
}

/** GET /v1/billing/payment-history/export: the same as CSV. Throws AppError 422 `too_many_rows`. */
export async function exportPayments(
  { principal, services }: Context,
  filters: z.output<typeof ExportPaymentsInput>,
): Promise<string> {
  return writeCsv(columns, pagesOfPayments(services.pool, toFilter(principal.tenantId, filters)));
}

const PAGE = 1000;

async function* pagesOfPayments(db: Queryable, filter: Omit<PaymentFilter, 'limit'>): AsyncGenerator<PaymentRow[]> {
  let after: PaymentFilter['after'];
  for (;;) {
    const rows = await listPayments(db, { ...filter, after, limit: PAGE });
    yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    after = { at: last.createdAt, id: last.id };
  }
}

function toFilter(tenantId: string, { kind, from, to }: z.output<typeof ExportPaymentsInput>) {
  const time = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text));
  return { tenantId, kind, from: time(from), to: time(to) };
}

const columns: CsvColumn<PaymentRow>[] = [
  ['created_at', row => isoTimestamp(row.createdAt)],
  ['kind', row => row.kind],
  ['status', row => row.status],
  ['amount', row => row.amount],
  ['currency', row => row.currency],
  ['credits_microcredits', row => row.credits],
  ['refunded_amount', row => row.refundedAmount],
  ['description', row => row.description],
  ['provider', row => row.provider],
  ['settled_at', row => (row.settledAt === null ? '' : isoTimestamp(row.settledAt))],
  ['invoice_url', row => row.invoiceUrl ?? ''],
  ['id', row => row.id],
];
