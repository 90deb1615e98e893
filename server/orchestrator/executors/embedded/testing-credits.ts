import type { Pool } from 'pg';
import { type ActionPrices, type CreditSource, FREE, type TenantCredits } from '../../credits.ts';

export const PRICES: ActionPrices = { workflow_step: 100, tool_call: 30, llm_input_tokens: 2, llm_output_tokens: 5 };

/** Accounts in the test's own database, as the ledger keeps them; prices and policy are what the test says. */
export class TestCredits implements CreditSource {
  readonly #pool: Pool;
  readonly #policy: Partial<TenantCredits>;
  readonly crossings: [tenantId: string, percent: number][] = [];
  /** Reads so far. */
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

  crossed(tenantId: string, percent: 80 | 100): void {
    this.crossings.push([tenantId, percent]);
  }

  async read(tenantId: string): Promise<Record<(typeof COLUMNS)[number] | 'balance', number>> {
    const { rows } = await this.#pool.query(
      `SELECT ${COLUMNS.map(column => `${column}::float8`)}, (trial + included + payg)::float8 AS balance
       FROM credit_balances WHERE tenant_id = $1`,
      [tenantId],
    );
    return rows[0];
  }

  /** Opens the account if need be. */
  async grant(tenantId: string, account: 'trial' | 'included' | 'payg', amount: number): Promise<void> {
    await this.#pool.query(
      `INSERT INTO credit_accounts AS a (tenant_id, ${account}, allowance, created_at)
       VALUES ($1, $2::bigint, $2::bigint, to_timestamp(0))
       ON CONFLICT (tenant_id) DO UPDATE SET ${account} = a.${account} + $2,
         allowance = a.trial + a.included + a.payg + $2`,
      [tenantId, amount],
    );
  }

  /** The ledger's rows of charges, oldest first, and all of what they moved. */
  async charges(tenantId: string): Promise<Record<string, number>[]> {
    const { rows } = await this.#pool.query(
      `SELECT ${COLUMNS.filter(column => column !== 'allowance').map(column => `${column}::float8`)}
       FROM credit_entries WHERE tenant_id = $1 AND kind = 'charge' ORDER BY id`,
      [tenantId],
    );
    return rows;
  }
}

const COLUMNS = ['trial', 'included', 'payg', 'consumed', 'expired', 'granted', 'allowance'] as const;
