import type { Pool } from 'pg';

/**
 * Returns the plan of a Stripe price in this deployment's catalog, or null. Also finds prices that the operator has
 * since replaced, from the history of the catalog: workspaces that subscribed at an old price stay on that plan.
 */
export async function planCodeOfPrice(pool: Pool, productCode: string, priceId: string): Promise<string | null> {
  const { rows } = await pool.query<{ plan_code: string }>(
    `SELECT plan_code FROM (
       SELECT plan_code, 0 AS age FROM billing_plans WHERE product_code = $1 AND payment_price_id = $2
       UNION ALL
       SELECT plan_code, 1 FROM billing_plan_changes
       WHERE product_code = $1 AND before ->> 'payment_price_id' = $2
     ) found ORDER BY age LIMIT 1`,
    [productCode, priceId],
  );
  return rows[0]?.plan_code ?? null;
}
