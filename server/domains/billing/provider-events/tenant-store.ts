import type { StripeAccount } from '../provider/stripe/account.ts';

/**
 * Returns the workspace of a Stripe customer; null if this deployment has none (the customer is another deployment's,
 * or its workspace was deleted). It is the workspace that has the customer's id. If the answer with the id was lost, it
 * is the workspace that the object names as its owner, if that one has no other customer.
 */
export async function findTenant(
  account: StripeAccount,
  customerId: string | null,
  metadata: Record<string, string> | null,
): Promise<string | null> {
  const { pool, productCode } = account;
  if (customerId !== null) {
    const { rows } = await pool.query<{ tenant_id: string }>(
      'SELECT tenant_id FROM subscriptions WHERE provider_customer_id = $1 AND product_code = $2 LIMIT 1',
      [customerId, productCode],
    );
    const [stored] = rows;
    if (stored) return stored.tenant_id;
  }
  if (metadata?.tenant_id === undefined || metadata.product_code !== productCode) return null;
  const { rows } = await pool.query<{ slug: string }>(
    `SELECT t.slug FROM tenants t LEFT JOIN subscriptions s ON s.tenant_id = t.slug
     WHERE t.slug = $1 AND (s.provider_customer_id IS NULL OR $2::text IS NULL)`,
    [metadata.tenant_id, customerId],
  );
  return rows[0]?.slug ?? null;
}
