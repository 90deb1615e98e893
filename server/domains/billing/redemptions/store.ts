import type { AppliedDiscount } from '../../../operation/payment-provider.ts';
import { newId } from '../../../platform/ids.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';

/**
 * A redeemed code that has yet to be applied at the payment provider. First the code is redeemed, in a short
 * transaction that locks its row; then the provider is called, with an idempotency key of the redemption. So two
 * workspaces cannot both get the last use, no transaction holds a code's lock during a network call, and sending the
 * same code again completes what a crash or a lost answer left unfinished.
 */
export type Pending = { redemptionId: string; code: string } & (
  | { kind: 'trial_days'; days: number; trialEndsAt: number }
  | { kind: 'discount'; discount: AppliedDiscount }
);

/** Enqueues the call of the provider, in the transaction that redeems the code. */
export async function enqueueOutbox(db: Queryable, tenantId: string, pending: Pending, at: number): Promise<void> {
  await db.query(
    `INSERT INTO billing_events (tenant_id, id, kind, reference, data, created_at) VALUES ($1, $2, 'code_pending', $3, $4, $5)`,
    [tenantId, newId(), pending.redemptionId, pending, new Date(at)],
  );
}

/** Returns the pending entry of a code of this workspace; null if it has none. */
export async function findInOutbox(db: Queryable, tenantId: string, code: string): Promise<Pending | null> {
  const { rows } = await db.query<{ data: Pending }>(
    `SELECT data FROM billing_events WHERE tenant_id = $1 AND kind = 'code_pending' AND data->>'code' = $2 ORDER BY id LIMIT 1`,
    [tenantId, code],
  );
  return rows[0]?.data ?? null;
}

/** Removes an entry that was completed or abandoned. Returns false if a concurrent caller removed it first. */
export async function completeOutbox(
  db: Queryable,
  { tenantId, pending, outcome }: { tenantId: string; pending: Pending; outcome: 'code_applied' | 'code_refused' },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE billing_events SET kind = $3 WHERE tenant_id = $1 AND kind = 'code_pending' AND reference = $2`,
    [tenantId, pending.redemptionId, outcome],
  );
  return rowCount === 1;
}
