import type pg from 'pg';
import { COUNTED, countCharges, readUncounted } from '../../server/domains/billing/ledger/count-store.ts';
import { type CreditSource, FREE, type TenantCredits } from '../../server/orchestrator/ports/credits.ts';
import { toMicrocredits } from '../../server/orchestrator/ports/microcredits.ts';

const PRICES = { ...FREE.prices, workflow_step: 1_000, tool_call: 5_000, llm_input_tokens: 10, llm_output_tokens: 40 };
/** The microcredits in each of two balances: a billion credits in total, more than any measurement spends. */
const FUNDS_MICROCREDITS = 500_000_000_000_000;

/** Gives every requested workspace an account with credits to spend, at the prices of a plan. */
export function benchCredits(pool: pg.Pool): CreditSource {
  // The service counts charges in the same way, alongside its engine.
  setInterval(() => void countCharges(pool, Date.now()).catch(() => undefined), 2_000).unref();
  const refresh = async (tenantIds: readonly string[]) => {
    const { rows } = await pool.query<{ tenant_id: string; balance: string; consumed: string; counted: string }>(
      `SELECT tenant_id, trial + included + payg - charged AS balance, charged AS consumed, ${COUNTED} AS counted
       FROM credit_accounts a WHERE tenant_id = ANY($1)`,
      [tenantIds],
    );
    const uncounted = await readUncounted(
      pool,
      rows.map(row => ({ tenantId: row.tenant_id, counted: toMicrocredits(row.counted) })),
    );
    const toCredits = (row: (typeof rows)[number]): TenantCredits => ({
      ...FREE,
      prices: PRICES,
      balance: toMicrocredits(row.balance) - (uncounted.get(row.tenant_id)?.microcredits ?? 0),
      consumed: toMicrocredits(row.consumed) + (uncounted.get(row.tenant_id)?.microcredits ?? 0),
      allowance: 2 * FUNDS_MICROCREDITS,
      enforced: true,
    });
    return new Map(rows.map(row => [row.tenant_id, toCredits(row)]));
  };
  return {
    async load(tenantId) {
      await pool.query(
        `INSERT INTO credit_accounts (tenant_id, included, payg, allowance, created_at)
         VALUES ($1, $2::bigint, $2::bigint, $3, to_timestamp(0)) ON CONFLICT DO NOTHING`,
        [tenantId, FUNDS_MICROCREDITS, 2 * FUNDS_MICROCREDITS],
      );
      return (await refresh([tenantId])).get(tenantId) ?? FREE;
    },
    refresh,
    thresholdCrossed: () => undefined,
  };
}
