import type { Pool } from 'pg';
import type { JsonMap } from '../../orchestrator/core/index.ts';

export type Reservation = { requestHash: Buffer; createdAt: Date; response: JsonMap | null; fresh: boolean };
type KeyRef = { tenantId: string; scope: string; key: string };
type Row = { request_hash: Buffer; created_at: Date; response: JsonMap | null };

/** The key's row: made now, taken over because it has expired, or found as somebody left it. */
export async function reserve(
  pool: Pool,
  wanted: KeyRef & { requestHash: Buffer; at: Date; expiry: Date },
): Promise<Reservation> {
  const { tenantId, scope, key, requestHash, at, expiry } = wanted;
  // Two tries: between the insert that found a row and the select that reads it, a purge may have deleted it.
  for (let tries = 0; tries < 2; tries++) {
    const made = await pool.query<Row>(
      `insert into idempotency_keys as k (tenant_id, scope, key, request_hash, response, created_at)
       values ($1, $2, $3, $4, null, $5)
       on conflict (tenant_id, scope, key) do update
         set request_hash = excluded.request_hash, response = null, created_at = excluded.created_at
         where k.created_at <= $6
       returning request_hash, created_at, response`,
      [tenantId, scope, key, requestHash, at, expiry],
    );
    if (made.rows[0] !== undefined) return toReservation(made.rows[0], true);
    const found = await pool.query<Row>(
      `select request_hash, created_at, response from idempotency_keys where tenant_id = $1 and scope = $2 and key = $3`,
      [tenantId, scope, key],
    );
    if (found.rows[0] !== undefined) return toReservation(found.rows[0], false);
  }
  throw new Error('An idempotency key could be neither made nor found.');
}

function toReservation(row: Row, fresh: boolean): Reservation {
  return { requestHash: row.request_hash, createdAt: row.created_at, response: row.response, fresh };
}

/** Keeps the answer of the reservation made at `createdAt`, and the first one where several were given. */
export async function saveResponse(pool: Pool, saved: KeyRef & { createdAt: Date; response: JsonMap }): Promise<void> {
  await pool.query(
    `update idempotency_keys set response = $5
      where tenant_id = $1 and scope = $2 and key = $3 and created_at = $4 and response is null`,
    [saved.tenantId, saved.scope, saved.key, saved.createdAt, JSON.stringify(saved.response)],
  );
}

/** Deletes some expired keys. Each new key clears away up to 20 old ones, so that nothing has to run on a schedule. */
export async function purgeExpired(pool: Pool, expiry: Date): Promise<void> {
  await pool.query(
    `delete from idempotency_keys where (tenant_id, scope, key) in (
       select tenant_id, scope, key from idempotency_keys where created_at <= $1
        order by created_at limit 20 for update skip locked)`,
    [expiry],
  );
}
