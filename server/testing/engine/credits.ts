import type { Pool } from 'pg';
import type { ActionPrices } from '../../orchestrator/ports/billable-actions.ts';
import { type CreditSource, FREE, type TenantCredits } from '../../orchestrator/ports/credits.ts';

export const PRICES: ActionPrices = {
  ...FREE.prices,
  workflow_step: 100,
  tool_call: 30,
  llm_input_tokens: 2,
  llm_output_tokens: 5,
};

/** Accounts in the test's own database, without a ledger; the test sets prices and policy. */
export class TestCredits implements CreditSource {
  readonly #pool: Pool;
  readonly #policy: Partial<TenantCredits>;
  readonly crossings: [tenantId: string, percent: number][] = [];
  /** The number of reads so far. */
  loads = 0;
  fails = false;

  constructor(pool: Pool, policy: Partial<TenantCredits> = {}) {
    this.#pool = pool;
    this.#policy = policy;
  }

  async load(tenantId: string): Promise<TenantCredits> {
    this.loads += 1;
    if (this.fails) throw new Error('the database is away');
    await this.#pool.query(
      'INSERT INTO credit_accounts (tenant_id, created_at) VALUES ($1, to_timestamp(0)) ON CONFLICT DO NOTHING',
      [tenantId],
    );
    return (await this.refresh([tenantId])).get(tenantId) ?? FREE;
  }

  async refresh(tenantIds: readonly string[]): Promise<ReadonlyMap<string, TenantCredits>> {
    const found = new Map<string, TenantCredits>();
    for (const tenantId of tenantIds) {
      const { balance, consumed, allowance } = await this.read(tenantId);
      found.set(tenantId, { ...FREE, prices: PRICES, enforced: true, balance, consumed, allowance, ...this.#policy });
    }
    return found;
  }

  thresholdCrossed(tenantId: string, percent: 80 | 100): void {
    this.crossings.push([tenantId, percent]);
  }

  /** `consumed`: the total of all charges. `balance`: what is left of the grants. `waived`: what they did not cover. */
  async read(tenantId: string): Promise<Record<'balance' | 'consumed' | 'waived' | 'allowance', number>> {
    const { rows } = await this.#pool.query(
      `SELECT greatest(trial + included + payg - used, 0)::float8 AS balance, used::float8 AS consumed,
              greatest(used - trial - included - payg, 0)::float8 AS waived, allowance::float8
       FROM credit_accounts, LATERAL ${USED} WHERE tenant_id = $1`,
      [tenantId],
    );
    return rows[0];
  }

  /** Grants credits, opening the account if necessary. A new grant does not pay for earlier charges that were not covered. */
  async grant(tenantId: string, account: 'trial' | 'included' | 'payg', amount: number): Promise<void> {
    await this.#pool.query(
      `INSERT INTO credit_accounts AS a (tenant_id, ${account}, allowance, created_at)
       VALUES ($1, $2::bigint, $2::bigint, to_timestamp(0))
       ON CONFLICT (tenant_id) DO UPDATE SET
         ${account} = a.${account} + $2 + greatest((SELECT used FROM ${USED}) - a.trial - a.included - a.payg, 0),
         allowance = greatest(a.trial + a.included + a.payg - (SELECT used FROM ${USED}), 0) + $2`,
      [tenantId, amount],
    );
  }
}

/** SQL for the total of the usage, which is what was charged. */
const USED = '(SELECT coalesce(sum(microcredits), 0)::bigint AS used FROM run_usage WHERE tenant_id = $1) u';
