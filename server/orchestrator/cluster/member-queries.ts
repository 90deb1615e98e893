import type { ClientBase } from 'pg';
import type { HeldLock } from './locks.ts';

export type NodeRow = { id: string; url: string; level: number; version: string; leads: boolean };
export type Sight = { rows: NodeRow[]; locks: HeldLock[]; databaseMs: number };

/**
 * The rows are read before the locks: whoever inserts a row holds its lock by then. The state of a session is only visible
 * to its own role and to a monitor; elsewhere nobody knows how long it has been quiet.
 */
const SIGHT = `
  SELECT coalesce((SELECT json_agg(json_build_object('id', id, 'url', url, 'level', level, 'version', version, 'leads', leads)
                                   ORDER BY id) FROM cluster_nodes), '[]') AS rows,
         coalesce((SELECT json_agg(json_build_object(
                     'pid', l.pid,
                     'key', CASE l.objsubid WHEN 1 THEN ((l.classid::bigint << 32) | l.objid::bigint)::text END,
                     'shard', CASE l.objsubid WHEN 2 THEN l.objid::bigint END,
                     'exclusive', l.mode = 'ExclusiveLock',
                     'quietMs', extract(epoch FROM clock_timestamp() - a.state_change) * 1000))
                   FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
                   WHERE l.locktype = 'advisory' AND l.granted
                     AND (l.objsubid = 1 OR (l.objsubid = 2 AND l.classid = $1::bigint::oid))
                     AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())), '[]') AS locks,
         extract(epoch FROM clock_timestamp()) * 1000 AS database_ms`;

type LockJson = Omit<HeldLock, 'key'> & { key: string | null };

/** Reads which nodes are recorded, and who holds which advisory lock; `leaderLock` is the first key of those of shards. */
export async function readSight(db: ClientBase, leaderLock: number): Promise<Sight> {
  const { rows } = await db.query<{ rows: NodeRow[]; locks: LockJson[]; database_ms: string }>(SIGHT, [leaderLock]);
  const [row] = rows;
  if (row === undefined) throw new Error('the database answered without a row');
  const locks = row.locks.map(lock => ({ ...lock, key: lock.key === null ? null : BigInt(lock.key) }));
  return { rows: row.rows, locks, databaseMs: Number(row.database_ms) };
}

/** Only one node at a time joins; the transaction that calls this ends it. */
export async function lockCluster(db: ClientBase): Promise<void> {
  await db.query('LOCK TABLE cluster IN SHARE ROW EXCLUSIVE MODE');
}

export async function holdLock(db: ClientBase, key: bigint): Promise<void> {
  await db.query('SELECT pg_advisory_lock_shared($1::bigint)', [String(key)]);
}

export async function readFacts(db: ClientBase): Promise<ReadonlyMap<string, string>> {
  const { rows } = await db.query<{ name: string; value: string }>('SELECT name, value FROM cluster');
  return new Map(rows.map(({ name, value }) => [name, value]));
}

/** Sets the facts, and gives the deployment its id when it has none. */
export async function writeFacts(db: ClientBase, facts: ReadonlyMap<string, string>): Promise<void> {
  await db.query(
    `INSERT INTO cluster (name, value) SELECT * FROM unnest($1::text[], $2::text[])
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    [[...facts.keys()], [...facts.values()]],
  );
  await db.query(
    `INSERT INTO cluster (name, value) VALUES ('id', gen_random_uuid()::text) ON CONFLICT (name) DO NOTHING`,
  );
}

export async function recordNode(
  db: ClientBase,
  { id, url, level, version, leads }: NodeRow,
  at: number,
): Promise<void> {
  await db.query(
    `INSERT INTO cluster_nodes (id, url, level, version, leads, started_at) VALUES ($1, $2, $3, $4, $5, to_timestamp($6::float8 / 1000))
     ON CONFLICT (id) DO UPDATE SET url = excluded.url, leads = excluded.leads`,
    [id, url, level, version, leads, at],
  );
}

export async function removeNodes(db: ClientBase, ids: readonly string[]): Promise<void> {
  await db.query('DELETE FROM cluster_nodes WHERE id = ANY($1)', [ids]);
}
