import type { Pool } from 'pg';
import { z } from 'zod';
import { perAction } from '../../../orchestrator/ports/billable-actions.ts';
import type { TenantCredits } from '../../../orchestrator/ports/credits.ts';
import { toMicrocredits } from '../../../orchestrator/ports/microcredits.ts';
import { newId } from '../../../platform/ids.ts';
import { Microcredits } from '../schemas.ts';
import { COUNTED, readUncounted } from './count-store.ts';

const Prices = z.object(perAction(() => Microcredits));

const READ = `
  SELECT a.tenant_id, a.trial + a.included + a.payg AS held, a.charged, a.posted, ${COUNTED} AS counted, a.allowance,
         a.when_exhausted, p.prices
  FROM credit_accounts a
  JOIN subscriptions s ON s.tenant_id = a.tenant_id
  JOIN billing_plans p ON p.product_code = s.product_code AND p.plan_code = s.plan_code
  WHERE a.tenant_id = ANY($1)`;

/** Returns prices and balances by workspace id. Leaves out workspaces without an account or a plan. */
export async function readCredits(
  pool: Pool,
  tenantIds: readonly string[],
  enforced: boolean,
): Promise<Map<string, TenantCredits>> {
  type Row = Record<'tenant_id' | 'held' | 'charged' | 'posted' | 'counted' | 'allowance', string> & {
    when_exhausted: 'fail' | 'pause';
    prices: unknown;
  };
  const { rows } = await pool.query<Row>(READ, [tenantIds]);
  const counted = rows.map(row => ({ tenantId: row.tenant_id, counted: toMicrocredits(row.counted) }));
  const uncounted = await readUncounted(pool, counted);
  return new Map(
    rows.map(row => {
      const charged = toMicrocredits(row.charged) + (uncounted.get(row.tenant_id)?.microcredits ?? 0);
      const credits = {
        prices: Prices.parse(row.prices),
        balance: Math.max(0, toMicrocredits(row.held) - (charged - toMicrocredits(row.posted))),
        consumed: charged,
        allowance: toMicrocredits(row.allowance),
        whenExhausted: row.when_exhausted,
        enforced,
      };
      return [row.tenant_id, credits];
    }),
  );
}

/** The grant that set the present allowance. */
const LAST_GRANT = '(SELECT g.id::text FROM credit_grants g WHERE g.tenant_id = $1 ORDER BY g.id DESC LIMIT 1)';

/**
 * Records a warning for the present allowance. Returns false if it was recorded before, or if
 * the allowance has changed.
 */
export async function insertWarning(
  pool: Pool,
  tenantId: string,
  { percent, allowance, at }: { percent: 80 | 100; allowance: number; at: Date },
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `INSERT INTO billing_events (tenant_id, id, kind, reference, data, created_at)
     SELECT $1, $2, 'credits_' || $3::bigint, ${LAST_GRANT}, jsonb_build_object('percent', $3::bigint, 'allowance', a.allowance), $4
     FROM credit_accounts a WHERE a.tenant_id = $1 AND a.allowance = $5
     ON CONFLICT DO NOTHING`,
    [tenantId, newId(), percent, at, allowance],
  );
  return rowCount !== 0;
}

/** The warnings of the present allowance, oldest first; times in ms since the epoch. */
export async function readWarnings(
  db: Pick<Pool, 'query'>,
  tenantId: string,
): Promise<{ percent: 80 | 100; at: number }[]> {
  const { rows } = await db.query<{ percent: 80 | 100; created_at: Date }>(
    `SELECT (data->>'percent')::int AS percent, created_at FROM billing_events
     WHERE tenant_id = $1 AND kind IN ('credits_80', 'credits_100') AND reference = ${LAST_GRANT} ORDER BY id`,
    [tenantId],
  );
  return rows.map(({ percent, created_at }) => ({ percent, at: created_at.getTime() }));
}
