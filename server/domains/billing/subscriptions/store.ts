import type { ProviderSubscription } from '../../../operation/payment-provider.ts';
import { toMicrocredits } from '../../../orchestrator/ports/microcredits.ts';
import { camelCased, type Stored } from '../../../platform/postgres/rows.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import type { StoredDiscount } from '../codes/discount.ts';

/** A workspace's subscription; times in ms since the epoch. Without `subscriptionId` it is on the onboarding plan. */
export type SubscriptionRow = {
  tenantId: string;
  productCode: string;
  planCode: string;
  status: ProviderSubscription['status'];
  provider: 'manual' | 'stripe';
  customerId: string | null;
  subscriptionId: string | null;
  trialPlanCode: string | null;
  trialStartedAt: number | null;
  trialEndsAt: number | null;
  period: { from: number; to: number };
  cancelAtPeriodEnd: boolean;
  /** The plan that starts at the period's end; for an incomplete subscription, the plan that waits for its payment. */
  pendingPlanCode: string | null;
  discount: StoredDiscount | null;
  /** The version of the provider's state that was applied last. */
  version: number;
  updatedAt: number;
};

type Row = Stored<
  Omit<SubscriptionRow, 'period'>,
  { trialStartedAt: Date | null; trialEndsAt: Date | null; version: string; updatedAt: Date }
> & { currentPeriodStart: Date; currentPeriodEnd: Date };

const columns = `tenant_id, product_code, plan_code, status, provider, provider_customer_id AS customer_id,
  provider_subscription_id AS subscription_id, trial_plan_code, trial_started_at, trial_ends_at, current_period_start, current_period_end, cancel_at_period_end,
  pending_plan_code, discount, provider_version AS version, updated_at`;

/** Returns the subscription of a workspace that was onboarded (`ensureOnboarded`). */
export function readSubscription(db: Queryable, tenantId: string): Promise<SubscriptionRow> {
  return select(db, tenantId, '');
}

/**
 * Returns the same, locked until the transaction ends. All changes of a subscription wait for each other here, also
 * during a call to the provider. Charges never touch this row.
 */
export function lockSubscription(db: Queryable, tenantId: string): Promise<SubscriptionRow> {
  return select(db, tenantId, 'FOR NO KEY UPDATE');
}

async function select(db: Queryable, tenantId: string, lock: string): Promise<SubscriptionRow> {
  const { rows } = await db.query(`SELECT ${columns} FROM subscriptions WHERE tenant_id = $1 ${lock}`, [tenantId]);
  const [found] = camelCased<Row>(rows);
  if (found === undefined) throw new Error(`the workspace ${tenantId} was not onboarded`);
  const { currentPeriodStart, currentPeriodEnd, ...row } = found;
  return {
    ...row,
    trialStartedAt: row.trialStartedAt?.getTime() ?? null,
    trialEndsAt: row.trialEndsAt?.getTime() ?? null,
    period: { from: currentPeriodStart.getTime(), to: currentPeriodEnd.getTime() },
    version: toMicrocredits(row.version),
    updatedAt: row.updatedAt.getTime(),
  };
}

const dateOf = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));

/**
 * Writes a locked subscription. Every change increases `updatedAt`. A provider's idempotency key that contains it
 * therefore differs after each change, and is the same if the change was lost.
 */
export async function saveSubscription(db: Queryable, row: SubscriptionRow, at: number): Promise<SubscriptionRow> {
  const updatedAt = Math.max(at, row.updatedAt + 1);
  await db.query(
    `UPDATE subscriptions SET plan_code = $2, status = $3, provider = $4, provider_customer_id = $5,
       provider_subscription_id = $6, trial_plan_code = $7, trial_started_at = $8, trial_ends_at = $9,
       current_period_start = $10, current_period_end = $11, cancel_at_period_end = $12, pending_plan_code = $13,
       discount = $14, provider_version = $15, updated_at = $16
     WHERE tenant_id = $1`,
    [
      row.tenantId,
      row.planCode,
      row.status,
      row.provider,
      row.customerId,
      row.subscriptionId,
      row.trialPlanCode,
      dateOf(row.trialStartedAt),
      dateOf(row.trialEndsAt),
      new Date(row.period.from),
      new Date(row.period.to),
      row.cancelAtPeriodEnd,
      row.pendingPlanCode,
      row.discount,
      row.version,
      new Date(updatedAt),
    ],
  );
  return { ...row, updatedAt };
}

/** Returns whether the provider decides when the periods of a subscription start; otherwise the clock does. */
export const followsProvider = ({ provider, subscriptionId, status }: SubscriptionRow): boolean =>
  provider === 'stripe' && subscriptionId !== null && status !== 'incomplete';

/** Returns whether a subscription's period or trial has ended by `now` and no provider manages it. */
export const isDue = (row: SubscriptionRow, now: number): boolean => row.period.to <= now && !followsProvider(row);

export async function hasTenant(db: Queryable, tenantId: string): Promise<boolean> {
  const { rowCount } = await db.query('SELECT FROM tenants WHERE slug = $1', [tenantId]);
  return rowCount !== 0;
}

export async function findTenantName(db: Queryable, tenantId: string): Promise<string | null> {
  const { rows } = await db.query<{ name: string }>('SELECT name FROM tenants WHERE slug = $1', [tenantId]);
  return rows[0]?.name ?? null;
}

/** Returns the names of a workspace and of a project in it; null if either no longer exists. */
export async function findNames(
  db: Queryable,
  { tenantId, projectId }: { tenantId: string; projectId: string },
): Promise<{ tenant: string; project: string } | null> {
  const { rows } = await db.query<{ tenant: string; project: string }>(
    `SELECT t.name AS tenant, p.name AS project
     FROM tenants t JOIN projects p ON p.tenant_id = t.slug AND p.id = $2 WHERE t.slug = $1`,
    [tenantId, projectId],
  );
  return rows[0] ?? null;
}

/** Returns whether the workspace was onboarded. */
export async function hasSubscription(db: Queryable, tenantId: string): Promise<boolean> {
  const { rowCount } = await db.query('SELECT FROM subscriptions WHERE tenant_id = $1', [tenantId]);
  return rowCount !== 0;
}

/**
 * Inserts the subscription of a plan; its period is stored later. Waits for concurrent inserts. Returns false if the
 * workspace has a subscription.
 */
export async function insertSubscription(
  db: Queryable,
  tenantId: string,
  { productCode, planCode }: { productCode: string; planCode: string },
  at: number,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `INSERT INTO subscriptions (tenant_id, product_code, plan_code, status, provider, current_period_start,
                                current_period_end, created_at, updated_at)
     VALUES ($1, $2, $3, 'active', 'manual', $4, $4, $4, $4) ON CONFLICT DO NOTHING`,
    [tenantId, productCode, planCode, new Date(at)],
  );
  return rowCount !== 0;
}

/** Stores the present period of a subscription. */
export async function savePeriod(
  db: Queryable,
  tenantId: string,
  { from, to }: { from: number; to: number },
): Promise<void> {
  await db.query('UPDATE subscriptions SET current_period_start = $2, current_period_end = $3 WHERE tenant_id = $1', [
    tenantId,
    new Date(from),
    new Date(to),
  ]);
}
