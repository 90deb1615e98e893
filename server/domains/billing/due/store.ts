import type { Queryable } from '../../../platform/postgres/transaction.ts';

/** The number of workspaces per query. A process that was down for a long time has many to process. */
export const BATCH = 200;

/** Selects subscriptions whose periods no provider manages: `isDue` as SQL. */
const OURS = `(provider <> 'stripe' OR provider_subscription_id IS NULL OR status = 'incomplete')`;

/** Returns the workspaces with something due, the longest due first. */
export async function dueTenants(db: Queryable, now: number, except: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ tenant_id: string }>(
    `SELECT tenant_id FROM (
       SELECT tenant_id, current_period_end AS due FROM subscriptions WHERE current_period_end <= $1 AND ${OURS}
       UNION ALL SELECT tenant_id, next_expiry_at FROM credit_accounts WHERE next_expiry_at <= $1) found
     WHERE NOT tenant_id = ANY($2) GROUP BY tenant_id ORDER BY min(due) LIMIT ${BATCH}`,
    [new Date(now), except],
  );
  return rows.map(({ tenant_id }) => tenant_id);
}

/** Returns workspaces after `last`, sorted by id, with charges that are not in the ledger yet. */
export async function chargedTenants(db: Queryable, last: string): Promise<string[]> {
  const { rows } = await db.query<{ tenant_id: string }>(
    `SELECT tenant_id FROM credit_accounts WHERE charged > posted AND tenant_id > $1 ORDER BY tenant_id LIMIT ${BATCH}`,
    [last],
  );
  return rows.map(({ tenant_id }) => tenant_id);
}

/** Returns when something is due next, in ms since the epoch. */
export async function nextDue(db: Queryable): Promise<number | null> {
  const { rows } = await db.query<{ next: Date | null }>(
    `SELECT least((SELECT min(current_period_end) FROM subscriptions WHERE ${OURS}),
                  (SELECT min(next_expiry_at) FROM credit_accounts)) AS next`,
  );
  return rows[0]?.next?.getTime() ?? null;
}
