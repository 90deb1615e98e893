import type { Queryable } from '../../../platform/postgres/transaction.ts';

/** Returns the workspaces of a product that are customers at Stripe, with their customer ids. */
export async function listCustomers(
  db: Queryable,
  productCode: string,
): Promise<{ tenantId: string; customer: string }[]> {
  const { rows } = await db.query<{ tenant_id: string; customer: string }>(
    `SELECT tenant_id, provider_customer_id AS customer FROM subscriptions
     WHERE provider = 'stripe' AND provider_customer_id IS NOT NULL AND product_code = $1 ORDER BY tenant_id`,
    [productCode],
  );
  return rows.map(row => ({ tenantId: row.tenant_id, customer: row.customer }));
}

/** Returns the provider's state of a workspace's subscription as one text. */
export async function fingerprint(db: Queryable, tenantId: string): Promise<string> {
  const { rows } = await db.query(
    `SELECT plan_code, status, provider_subscription_id, trial_ends_at, current_period_start, current_period_end,
            cancel_at_period_end, pending_plan_code
     FROM subscriptions WHERE tenant_id = $1`,
    [tenantId],
  );
  return JSON.stringify(rows);
}

/** Returns payments since `oldest` that Stripe has not confirmed here, by Stripe's ids, oldest first. */
export async function listOpenPayments(
  db: Queryable,
  oldest: Date,
): Promise<{ tenantId: string; kind: 'topup' | 'subscription'; id: string }[]> {
  const { rows } = await db.query<{ tenant_id: string; kind: 'topup' | 'subscription'; id: string }>(
    `SELECT p.tenant_id, p.kind, p.provider_payment_id AS id FROM payments p
     WHERE p.provider = 'stripe' AND p.status IN ('pending', 'failed') AND p.provider_payment_id IS NOT NULL AND p.created_at >= $1
     ORDER BY p.created_at, p.id`,
    [oldest],
  );
  return rows.map(row => ({ tenantId: row.tenant_id, kind: row.kind, id: row.id }));
}
