import type { Pool } from 'pg';
import type { z } from 'zod';
import type { DeliveryOutcome } from './schemas.ts';

export type DeliveryRow = {
  id: string;
  outcome: z.output<typeof DeliveryOutcome>;
  http_status: number;
  run_id: string | null;
  code: string | null;
  message: string | null;
  bytes: number;
  duration_ms: number;
  received_at: Date;
};
export type NewDelivery = DeliveryRow & { subscriptionId: string };

/**
 * The statuses that a flood receives, either without credentials or of valid deliveries. Their rows have a separate
 * limit, so that they cannot push out the important deliveries.
 */
const noisyStatuses: readonly number[] = [400, 401, 413, 415, 429, 503];
export const isNoise = ({ http_status }: Pick<DeliveryRow, 'http_status'>) => noisyStatuses.includes(http_status);
/** The number of rows that are kept for a webhook: with noisy statuses, and with all others. */
export const kept = { noise: 50, rest: 200 } as const;

/** Inserts deliveries of existing webhooks, and ignores others, so that the caller need not check first. */
export async function insertDeliveries(pool: Pool, deliveries: readonly NewDelivery[]): Promise<void> {
  const column = <K extends keyof NewDelivery>(key: K) => deliveries.map(delivery => delivery[key]);
  await pool.query({
    name: 'insert_webhook_deliveries',
    text: `INSERT INTO webhook_deliveries (id, subscription_id, tenant_id, outcome, http_status, run_id, code, message, bytes,
             duration_ms, received_at)
           SELECT d.id, s.id, s.tenant_id, d.outcome, d.http_status, d.run_id, d.code, d.message, d.bytes, d.duration_ms, d.received_at
             FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::int[], $5::uuid[], $6::text[], $7::text[], $8::int[], $9::int[],
                    $10::timestamptz[])
                  d(id, subscription_id, outcome, http_status, run_id, code, message, bytes, duration_ms, received_at)
             JOIN webhook_subscriptions s ON s.id = d.subscription_id`,
    values: [
      column('id'),
      column('subscriptionId'),
      column('outcome'),
      column('http_status'),
      column('run_id'),
      column('code'),
      column('message'),
      column('bytes'),
      column('duration_ms'),
      column('received_at'),
    ],
  });
}

/** Deletes all but the newest deliveries of a webhook. */
export async function pruneDeliveries(pool: Pool, subscriptionId: string): Promise<void> {
  await pool.query({
    name: 'prune_webhook_deliveries',
    text: `DELETE FROM webhook_deliveries WHERE subscription_id = $1 AND id IN (
             SELECT id FROM (
               SELECT id, http_status = ANY($4::int[]) AS is_noise,
                      row_number() OVER (PARTITION BY http_status = ANY($4::int[]) ORDER BY id DESC) AS place
                 FROM webhook_deliveries WHERE subscription_id = $1) ranked
              WHERE place > CASE WHEN is_noise THEN $2::int ELSE $3::int END)`,
    values: [subscriptionId, kept.noise, kept.rest, noisyStatuses],
  });
}
