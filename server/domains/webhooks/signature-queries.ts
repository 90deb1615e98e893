import type { Pool } from 'pg';
import { unauthenticated } from '../../platform/errors.ts';

/** A delivery, identified by its signature. */
export type SignatureRef = { webhookId: string; signature: Buffer };

/** Returns the run of the signature; null if none is known at `now`. */
export async function findSignedRun(
  pool: Pool,
  { webhookId, signature }: SignatureRef,
  now: number,
): Promise<string | null> {
  const { rows } = await pool.query<{ run_id: string }>({
    name: 'find_webhook_signature',
    text: `SELECT run_id FROM webhook_signatures WHERE subscription_id = $1 AND signature = $2 AND expires_at > $3`,
    values: [webhookId, signature, new Date(now)],
  });
  return rows[0]?.run_id ?? null;
}

/**
 * Assigns the signature to the run until `expiresAt`, unless it is assigned to another one; returns the run to which it
 * is assigned. Throws AppError 401 if the webhook does not exist.
 */
export async function claimSignature(
  pool: Pool,
  { webhookId, signature }: SignatureRef,
  { runId, expiresAt, now }: { runId: string; expiresAt: number; now: number },
): Promise<string> {
  await purge(pool, now);
  const { rows } = await pool.query<{ run_id: string }>({
    name: 'claim_webhook_signature',
    // The update of an unexpired row changes nothing, but returns the row, including one that a concurrent
    // request has just inserted.
    text: `INSERT INTO webhook_signatures AS s (subscription_id, signature, run_id, expires_at)
           SELECT id, $2::bytea, $3::uuid, $4::timestamptz FROM webhook_subscriptions WHERE id = $1
           ON CONFLICT (subscription_id, signature) DO UPDATE
             SET run_id = CASE WHEN s.expires_at > $5 THEN s.run_id ELSE excluded.run_id END,
                 expires_at = greatest(s.expires_at, excluded.expires_at)
           RETURNING run_id`,
    values: [webhookId, signature, runId, new Date(expiresAt), new Date(now)],
  });
  const [row] = rows;
  // The webhook was deleted after the delivery was authenticated: the answer is the same as for a later delivery.
  if (row === undefined) throw unauthenticated();
  return row.run_id;
}

/** The interval in which expired signatures are deleted, and the size of a batch. */
const PURGE_EVERY_MS = 60_000;
const MAX_PURGED = 20_000;
const purgedAt = new WeakMap<Pool, number>();

async function purge(pool: Pool, now: number): Promise<void> {
  const last = purgedAt.get(pool);
  if (last !== undefined && now >= last && now < last + PURGE_EVERY_MS) return;
  purgedAt.set(pool, now);
  await pool.query({
    name: 'purge_webhook_signatures',
    text: `DELETE FROM webhook_signatures WHERE (subscription_id, signature) IN (
             SELECT subscription_id, signature FROM webhook_signatures WHERE expires_at <= $1
              ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
    values: [new Date(now), MAX_PURGED],
  });
}
