import type { Pool } from 'pg';

/**
 * The plan that a price of Stripe's stands for in this deployment's catalogue; null: none. A price that a plan had before the
 * operator gave it another one is found in the history of the catalogue: whoever subscribed at it stays on that plan.
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
