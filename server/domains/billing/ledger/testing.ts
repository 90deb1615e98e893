import type { Pool } from 'pg';
import { newId } from '../../../platform/ids.ts';
import { transact } from '../../../platform/postgres/transaction.ts';

/** Charges a workspace as the engine's commit does: trial, included, pay-as-you-go; what all three lack is waived. */
export async function charge(pool: Pool, tenantId: string, amount: number, at: number): Promise<void> {
  await transact(pool, async client => {
    const { rows } = await client.query(
      'SELECT trial, included, payg FROM credit_accounts WHERE tenant_id = $1 FOR NO KEY UPDATE',
      [tenantId],
    );
    let rest = amount;
    const parts = [rows[0]?.trial, rows[0]?.included, rows[0]?.payg].map(balance => {
      const part = Math.min(rest, Number(balance ?? 0));
      rest -= part;
      return -part;
    });
    const values = [tenantId, ...parts, amount, -rest];
    await client.query(
      `INSERT INTO credit_ledger (tenant_id, id, kind, trial, included, payg, consumed, granted, created_at)
       VALUES ($1, $7, 'charge', $2, $3, $4, $5, $6, $8)`,
      [...values, newId(), new Date(at)],
    );
    await client.query(
      `UPDATE credit_accounts SET trial = trial + $2, included = included + $3, payg = payg + $4, consumed = consumed + $5,
         granted = granted + $6 WHERE tenant_id = $1`,
      values,
    );
  });
}
