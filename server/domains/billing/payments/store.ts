import { toMicrocredits } from '../../../orchestrator/ports/microcredits.ts';
import { camelCased, type Stored } from '../../../platform/postgres/rows.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';

export type PaymentStatus = 'pending' | 'succeeded' | 'failed' | 'cancelled' | 'refunded';

/** A payment; money in minor units, credits in microcredits, times in ms since the epoch. */
export type PaymentRow = {
  id: string;
  tenantId: string;
  kind: 'topup' | 'subscription';
  status: PaymentStatus;
  amount: number;
  currency: string;
  credits: number;
  refundedAmount: number;
  description: string;
  provider: 'manual' | 'stripe';
  providerPaymentId: string | null;
  invoiceUrl: string | null;
  requestedBy: string | null;
  createdAt: number;
  settledAt: number | null;
};

type Row = Stored<
  PaymentRow,
  { amount: string; credits: string; refundedAmount: string; createdAt: Date; settledAt: Date | null }
>;

const toPayment = (row: Row): PaymentRow => ({
  ...row,
  amount: toMicrocredits(row.amount),
  credits: toMicrocredits(row.credits),
  refundedAmount: toMicrocredits(row.refundedAmount),
  createdAt: row.createdAt.getTime(),
  settledAt: row.settledAt?.getTime() ?? null,
});

async function select(db: Queryable, rest: string, values: unknown[]): Promise<PaymentRow[]> {
  const { rows } = await db.query(`SELECT * FROM payments WHERE ${rest}`, values);
  return camelCased<Row>(rows).map(toPayment);
}

const dateOf = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));

export async function insertPayment(db: Queryable, payment: PaymentRow): Promise<void> {
  await db.query(
    `INSERT INTO payments (id, tenant_id, kind, status, amount, currency, credits, refunded_amount, description, provider,
                           provider_payment_id, invoice_url, requested_by, created_at, settled_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
    [
      payment.id,
      payment.tenantId,
      payment.kind,
      payment.status,
      payment.amount,
      payment.currency,
      payment.credits,
      payment.refundedAmount,
      payment.description,
      payment.provider,
      payment.providerPaymentId,
      payment.invoiceUrl,
      payment.requestedBy,
      new Date(payment.createdAt),
      dateOf(payment.settledAt),
    ],
  );
}

/** Returns those of the given payments that are not confirmed yet. */
export async function pendingPayments(db: Queryable, tenantId: string, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const { rows } = await db.query<{ id: string }>(
    `SELECT id FROM payments WHERE tenant_id = $1 AND id = ANY($2) AND status = 'pending' ORDER BY created_at, id`,
    [tenantId, ids],
  );
  return rows.map(({ id }) => id);
}

/** Sets the credits of a payment, once it is known how many its period includes without it. */
export async function setPaymentCredits(
  db: Queryable,
  { tenantId, id, credits }: Pick<PaymentRow, 'tenantId' | 'id' | 'credits'>,
): Promise<void> {
  await db.query('UPDATE payments SET credits = $3 WHERE tenant_id = $1 AND id = $2', [tenantId, id, credits]);
}

/** Writes the fields of a payment that may change. */
export async function updatePayment(db: Queryable, payment: PaymentRow): Promise<void> {
  await db.query(
    `UPDATE payments SET status = $3, refunded_amount = $4, provider_payment_id = $5, invoice_url = $6, settled_at = $7,
       description = $8, amount = $9
     WHERE tenant_id = $1 AND id = $2`,
    [
      payment.tenantId,
      payment.id,
      payment.status,
      payment.refundedAmount,
      payment.providerPaymentId,
      payment.invoiceUrl,
      dateOf(payment.settledAt),
      payment.description,
      payment.amount,
    ],
  );
}

/** Returns a payment of any workspace by its id; for operators only. */
export async function findPayment(db: Queryable, id: string): Promise<PaymentRow | null> {
  return (await select(db, 'id = $1', [id]))[0] ?? null;
}

/** Returns a payment of a workspace, locked until the transaction ends. */
export async function lockPayment(db: Queryable, tenantId: string, id: string): Promise<PaymentRow | null> {
  return (await select(db, 'tenant_id = $1 AND id = $2 FOR UPDATE', [tenantId, id]))[0] ?? null;
}

/** Returns the payment with this id at the provider, locked until the transaction ends. */
export async function lockProviderPayment(
  db: Queryable,
  tenantId: string,
  provider: PaymentRow['provider'],
  providerPaymentId: string,
): Promise<PaymentRow | null> {
  const found = await select(db, 'tenant_id = $1 AND provider = $2 AND provider_payment_id = $3 FOR UPDATE', [
    tenantId,
    provider,
    providerPaymentId,
  ]);
  return found[0] ?? null;
}

/** Returns whether an invoice of a subscription waits for an operator. */
export async function owesSubscription(db: Queryable, tenantId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `SELECT FROM payments
     WHERE tenant_id = $1 AND kind = 'subscription' AND status = 'pending' AND provider = 'manual' LIMIT 1`,
    [tenantId],
  );
  return rowCount !== 0;
}

export type PaymentFilter = {
  tenantId: string | null;
  status?: PaymentStatus | undefined;
  kind?: PaymentRow['kind'] | undefined;
  from?: number | undefined;
  to?: number | undefined;
  after?: { at: number; id: string } | undefined;
  limit: number;
};

/** Returns payments, newest first; `tenantId` null: of all workspaces, for operators. */
export function listPayments(db: Queryable, filter: PaymentFilter): Promise<PaymentRow[]> {
  const { tenantId, status, kind, from, to, after, limit } = filter;
  return select(
    db,
    `($1::text IS NULL OR tenant_id = $1) AND ($2::text IS NULL OR kind = $2) AND ($3::text IS NULL OR status = $3)
       AND ($4::timestamptz IS NULL OR created_at >= $4) AND ($5::timestamptz IS NULL OR created_at < $5)
       AND ($6::timestamptz IS NULL OR (created_at, id) < ($6, $7::uuid))
     ORDER BY created_at DESC, id DESC LIMIT $8`,
    [
      tenantId,
      kind ?? null,
      status ?? null,
      dateOf(from ?? null),
      dateOf(to ?? null),
      dateOf(after?.at ?? null),
      after?.id ?? null,
      limit,
    ],
  );
}
