import type { Pool } from 'pg';
import { unauthenticated } from '../../platform/errors.ts';

/** A delivery as its signature makes it known. */
export type SignatureRef = { webhookId: string; signature: Buffer };

/** The run that the signature stands for; null where none is known at `now`. */
export async function findSignedRun(
  pool: Pool,
  { webhookId, signature }: SignatureRef,
  now: number,
): Promise<string | null> {
  const { rows } = await pool.query<{ run_id: string }>({
    name: 'find_webhook_signature',
    text: `select run_id from webhook_signatures where subscription_id = $1 and signature = $2 and expires_at > $3`,
    values: [webhookId, signature, new Date(now)],
  });
  return rows[0]?.run_id ?? null;
}

/** Lets the signature stand for the run until `expiresAt`, unless it stands for another already; returns the run it stands for. AppError 401 without the webhook. */
export async function claimSignature(
  pool: Pool,
  { webhookId, signature }: SignatureRef,
  { runId, expiresAt, now }: { runId: string; expiresAt: number; now: number },
): Promise<string> {
  await purge(pool, now);
  const { rows } = await pool.query<{ run_id: string }>({
    name: 'claim_webhook_signature',
    // The update of an unexpired row changes nothing, but returns it, whoever made it in the meantime.
    text: `insert into webhook_signatures as s (subscription_id, signature, run_id, expires_at)
           select id, $2::bytea, $3::uuid, $4::timestamptz from webhook_subscriptions where id = $1
           on conflict (subscription_id, signature) do update
             set run_id = case when s.expires_at > $5 then s.run_id else excluded.run_id end,
                 expires_at = greatest(s.expires_at, excluded.expires_at)
           returning run_id`,
    values: [webhookId, signature, runId, new Date(expiresAt), new Date(now)],
  });
  const [row] = rows;
  // Deleted since the delivery was proven: as if it had come a moment later.
  if (row === undefined) throw unauthenticated();
  return row.run_id;
}

/** So often expired signatures are deleted, and at most so many at once. */
const PURGE_EVERY_MS = 60_000;
const MAX_PURGED = 20_000;
const purgedAt = new WeakMap<Pool, number>();

async function purge(pool: Pool, now: number): Promise<void> {
  const last = purgedAt.get(pool);
  if (last !== undefined && now >= last && now < last + PURGE_EVERY_MS) return;
  purgedAt.set(pool, now);
  await pool.query({
    name: 'purge_webhook_signatures',
    text: `delete from webhook_signatures where (subscription_id, signature) in (
             select subscription_id, signature from webhook_signatures where expires_at <= $1
              order by expires_at limit $2 for update skip locked)`,
    values: [new Date(now), MAX_PURGED],
  });
}
