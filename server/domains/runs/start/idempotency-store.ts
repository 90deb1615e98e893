import type { Pool } from 'pg';
import type { JsonMap } from '../../../orchestrator/core/index.ts';
import { DAY_MS } from '../../../platform/clock.ts';
import { groupCalls } from '../../../platform/group-calls.ts';

export type Reservation = { requestHash: Buffer; createdAt: Date; response: JsonMap | null };
type KeyRef = { tenantId: string; scope: string; key: string };
type Wanted = KeyRef & { requestHash: Buffer; at: Date };
type Answered = KeyRef & { createdAt: Date; response: JsonMap };
type Row = { tenant_id: string; scope: string; key: string; request_hash: Buffer; created_at: Date };

/** Keys are kept for 24 h (docs/specification/http.md#idempotency); an older one counts as new. */
const KEPT_MS = DAY_MS;

/**
 * Returns the row of the key, which is new, or expired and taken over, or created by an earlier request. Concurrent
 * requests share the commit: separate commits took three round trips and two more commits per start.
 */
export function reserve(pool: Pool, wanted: Wanted): Promise<Reservation> {
  return callsOn(pool).reserve(wanted);
}

/** Stores the answer for the reservation made at `createdAt`, unless the reservation already has one. */
export function saveResponse(pool: Pool, saved: Answered): Promise<void> {
  return callsOn(pool).save(saved);
}

type Calls = { reserve(wanted: Wanted): Promise<Reservation>; save(saved: Answered): Promise<void> };
// One per database pool, not one per module: two containers in a process (tests) share nothing.
const calls = new WeakMap<Pool, Calls>();

function callsOn(pool: Pool): Calls {
  const present = calls.get(pool);
  if (present) return present;
  const purge = purging(pool);
  const created: Calls = {
    reserve: groupCalls<Wanted, Reservation>(keyId, wanted => reserveAll(pool, purge, wanted)),
    save: groupCalls(
      saved => `${keyId(saved)} ${saved.createdAt.getTime()}`,
      saved => saveAll(pool, saved),
    ),
  };
  calls.set(pool, created);
  return created;
}

const keyId = ({ tenantId, scope, key }: KeyRef) => JSON.stringify([tenantId, scope, key]);
const rowId = ({ tenant_id, scope, key }: Row) => keyId({ tenantId: tenant_id, scope, key });

async function reserveAll(pool: Pool, purge: Purge, wanted: readonly Wanted[]): Promise<Reservation[]> {
  const reserved = new Map<string, Reservation>();
  const missing = () => wanted.filter(each => !reserved.has(keyId(each)));
  // Two tries: a purge may delete a row after the insert finds it and before the select reads it.
  for (let tries = 0; tries < 2 && reserved.size < wanted.length; tries++) {
    const made = await insertKeys(pool, missing());
    for (const row of made) reserved.set(rowId(row), { ...toReservation(row), response: null });
    const [first] = wanted;
    if (first && made.length > 0) await purge(first.at.getTime(), made.length);
    if (reserved.size === wanted.length) break;
    for (const row of await findKeys(pool, missing())) {
      reserved.set(rowId(row), { ...toReservation(row), response: row.response });
    }
  }
  return wanted.map(each => {
    const reservation = reserved.get(keyId(each));
    if (!reservation) throw new Error('An idempotency key could be neither made nor found.');
    return reservation;
  });
}

const toReservation = (row: Row) => ({ requestHash: row.request_hash, createdAt: row.created_at });

const columnsOf = (refs: readonly KeyRef[]) => [
  refs.map(({ tenantId }) => tenantId),
  refs.map(({ scope }) => scope),
  refs.map(({ key }) => key),
];

/**
 * Returns the rows that were created or taken over. Inserts in the order of the primary key, so that two processes
 * cannot deadlock.
 */
async function insertKeys(pool: Pool, wanted: readonly Wanted[]): Promise<Row[]> {
  const { rows } = await pool.query<Row>({
    name: 'reserve_idempotency_keys',
    text: `INSERT INTO idempotency_keys AS k (tenant_id, scope, key, request_hash, response, created_at)
           SELECT w.tenant_id, w.scope, w.key, w.request_hash, NULL, w.created_at
             FROM unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::timestamptz[])
               w(tenant_id, scope, key, request_hash, created_at)
            ORDER BY w.tenant_id, w.scope, w.key
           ON CONFLICT (tenant_id, scope, key) DO UPDATE
             SET request_hash = excluded.request_hash, response = NULL, created_at = excluded.created_at
             WHERE k.created_at <= excluded.created_at - make_interval(secs => $6::float8 / 1000)
           RETURNING tenant_id, scope, key, request_hash, created_at`,
    values: [...columnsOf(wanted), wanted.map(({ requestHash }) => requestHash), wanted.map(({ at }) => at), KEPT_MS],
  });
  return rows;
}

async function findKeys(pool: Pool, refs: readonly KeyRef[]): Promise<(Row & { response: JsonMap | null })[]> {
  const { rows } = await pool.query<Row & { response: JsonMap | null }>({
    name: 'find_idempotency_keys',
    text: `SELECT tenant_id, scope, key, request_hash, created_at, response
             FROM idempotency_keys JOIN unnest($1::text[], $2::text[], $3::text[]) w(tenant_id, scope, key)
               USING (tenant_id, scope, key)`,
    values: columnsOf(refs),
  });
  return rows;
}

/** Does not wait for the disk: if a crash loses an answer, the caller gets the run of the key (`once`). */
async function saveAll(pool: Pool, saved: readonly Answered[]): Promise<undefined[]> {
  const ordered = saved.toSorted((a, b) => (keyId(a) < keyId(b) ? -1 : 1));
  await pool.query({
    name: 'answer_idempotency_keys',
    text: `WITH at_ease AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
           UPDATE idempotency_keys k SET response = w.response::json
             FROM at_ease, unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::text[])
               w(tenant_id, scope, key, created_at, response)
            WHERE k.tenant_id = w.tenant_id AND k.scope = w.scope AND k.key = w.key AND k.created_at = w.created_at
              AND k.response IS NULL`,
    values: [
      ...columnsOf(ordered),
      ordered.map(({ createdAt }) => createdAt),
      ordered.map(({ response }) => JSON.stringify(response)),
    ],
  });
  return saved.map(() => undefined);
}

type Purge = (now: number, made: number) => Promise<void>;
/** The pause after a purge that found nothing more to delete. */
const PURGE_INTERVAL_MS = 60_000;

/** Deletes some expired keys: each new key deletes up to 20 old ones, so no scheduled job is needed. */
function purging(pool: Pool): Purge {
  let cleanAt: number | null = null;
  return async (now, made) => {
    if (cleanAt !== null && now >= cleanAt && now < cleanAt + PURGE_INTERVAL_MS) return;
    const limit = 20 * made;
    const { rowCount } = await pool.query({
      name: 'purge_idempotency_keys',
      text: `DELETE FROM idempotency_keys WHERE (tenant_id, scope, key) IN (
               SELECT tenant_id, scope, key FROM idempotency_keys WHERE created_at <= $1
                ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
      values: [new Date(now - KEPT_MS), limit],
    });
    cleanAt = (rowCount ?? 0) < limit ? now : null;
  };
}
