import type { AppliedDiscount } from '../../../contract/payment-provider.ts';
import { newId } from '../../../platform/ids.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';

/**
 * A code that was redeemed and has yet to be applied at the payment provider. First the redemption, in a short
 * transaction that locks the code's row; then the provider, with an idempotency key of the redemption. So two
 * workspaces cannot both get the last use, no transaction waits for a network while it locks a code, and the same code,
 * sent again, finishes what a crash or a lost answer left.
 */
export type Pending = { redemptionId: string; code: string } & (
  | { kind: 'trial_days'; days: number; trialEndsAt: number }
  | { kind: 'discount'; discount: AppliedDiscount }
);

/** Writes down, in the transaction that redeems, what is to be done. */
export async function enqueueOutbox(db: Queryable, tenantId: string, pending: Pending, at: number): Promise<void> {
  await db.query(
    `INSERT INTO billing_events (tenant_id, id, kind, reference, data, created_at) VALUES ($1, $2, 'code_pending', $3, $4, $5)`,
    [tenantId, newId(), pending.redemptionId, pending, new Date(at)],
  );
}

/** What a code of this workspace has yet to do; null: nothing. */
export async function findInOutbox(db: Queryable, tenantId: string, code: string): Promise<Pending | null> {
  const { rows } = await db.query<{ data: Pending }>(
    `SELECT data FROM billing_events WHERE tenant_id = $1 AND kind = 'code_pending' AND data->>'code' = $2 ORDER BY id LIMIT 1`,
    [tenantId, code],
  );
  return rows[0]?.data ?? null;
}

/** It is done, or given up. False: somebody else was quicker. */
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
