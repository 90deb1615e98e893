import type { ClientBase, Pool, PoolClient } from 'pg';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { lowestId, type Month, monthName, monthOf } from './months.ts';
import { transact } from './transaction.ts';

/**
 * The tables that are partitioned by month, and their partition keys: ids of runs, which are UUIDv7,
 * or a time (docs/adr/0006).
 */
const PARTITIONED = { run_events: 'run_id', run_payloads: 'run_id', run_usage: 'created_at' } as const;
export type PartitionedTable = keyof typeof PARTITIONED;

/** A partition for a range of time, in ms since the epoch. `from` is -Infinity for the one before all others. */
export type Partition = { table: PartitionedTable; name: string; from: number; to: number };

/**
 * Partitions exist for the current month and the next two: a process that sleeps for less
 * than that never needs DEFAULT.
 */
const MONTHS_AHEAD = 2;
/** Serializes processes that create partitions. Not the lock of migrations (4216033) or of the leader (4216034). */
const PARTITION_LOCK = 4_216_035;
/** The maximum time that a statement waits for a lock. All statements behind it wait as long, including the leader's commits. */
const LOCK_TIMEOUT_MS = 1_000;
/**
 * The number of rows that are moved out of DEFAULT while its writers wait: about 0.5 s. A month
 * with more stays in DEFAULT.
 */
const MAX_ROWS_MOVED = 50_000;

/**
 * Logs are never updated, so pages are filled completely. A vacuum only marks pages as visible to all and frozen here,
 * which is worth its reading once half of the table is new rather than a fifth.
 */
const STORAGE = 'fillfactor = 100, autovacuum_vacuum_insert_scale_factor = 0.5, autovacuum_analyze_scale_factor = 0.2';

/** Returns partitions by table and time, without the DEFAULT ones. Waits for locked ones. */
export async function listPartitions(db: Pool | ClientBase): Promise<Partition[]> {
  type Row = { parent: PartitionedTable; name: string; lower: string | null; upper: string };
  // A bound is a UUID, or a time in the session's time zone, which the session therefore converts; MINVALUE is null.
  const bound = (side: 'FROM' | 'TO') => {
    const text = `substring(b.text FROM '${side} \\(''([^'']+)''')`;
    return `CASE b.parent WHEN 'run_usage' THEN (extract(epoch FROM ${text}::timestamptz) * 1000)::bigint
                           ELSE ('x' || left(replace(${text}, '-', ''), 12))::bit(48)::bigint END`;
  };
  const { rows } = await db.query<Row>(
    `SELECT b.parent, b.name, ${bound('FROM')} AS lower, ${bound('TO')} AS upper
     FROM (SELECT p.relname AS parent, c.relname AS name, pg_get_expr(c.relpartbound, c.oid) AS text
           FROM pg_class p JOIN pg_partitioned_table t ON t.partrelid = p.oid
           JOIN pg_inherits i ON i.inhparent = p.oid AND i.inhrelid <> t.partdefid JOIN pg_class c ON c.oid = i.inhrelid
           WHERE p.relname = ANY($1) AND p.relnamespace = 'public'::regnamespace) b
     ORDER BY parent, upper`,
    [Object.keys(PARTITIONED)],
  );
  return rows.map(({ parent, name, lower, upper }) => ({
    table: parent,
    name,
    from: lower === null ? Number.NEGATIVE_INFINITY : Number(lower),
    to: Number(upper),
  }));
}

/**
 * Creates the missing partitions of the current month and the next two, and returns their names. If one cannot be
 * created now (a table is locked, or DEFAULT has too many rows of the month), this is logged: DEFAULT takes the rows,
 * and only retention is affected. Any process may call this at any time.
 */
export async function ensurePartitions(pool: Pool, clock: Clock, logger: Logger): Promise<string[]> {
  const made: string[] = [];
  const existing = await inTransaction(pool, LOCK_TIMEOUT_MS, listPartitions).catch(error => {
    logger.warn({ err: error }, 'partitions could not be listed; DEFAULT serves');
    return null;
  });
  if (existing === null) return made;
  for (const table of Object.keys(PARTITIONED) as PartitionedTable[]) {
    for (let offset = 0; offset <= MONTHS_AHEAD; offset++) {
      const month = monthOf(clock.now(), offset);
      if (isCovered(existing, table, month)) continue;
      try {
        if (await makePartition(pool, table, month, logger)) made.push(`${table}_${monthName(month)}`);
      } catch (error) {
        logger.warn({ err: error, table, month: monthName(month) }, 'a partition could not be made; DEFAULT serves');
      }
    }
  }
  if (made.length > 0) logger.info({ partitions: made }, 'partitions made');
  return made;
}

const isCovered = (existing: readonly Partition[], table: PartitionedTable, month: Month) =>
  existing.some(other => other.table === table && other.from < month.to && other.to > month.from);

/** Returns a range of the table's key as SQL literals. */
function keyRange(table: PartitionedTable, { from, to }: Month): { from: string; to: string } {
  const bound = (at: number) => (table === 'run_usage' ? `'${new Date(at).toISOString()}'` : `'${lowestId(at)}'`);
  return { from: Number.isFinite(from) ? bound(from) : 'MINVALUE', to: bound(to) };
}

/** Returns the statements that create a partition as a separate table, and attach it. */
export function partitionStatements({ table, name, from, to }: Partition): { create: string; attach: string } {
  const range = keyRange(table, { from, to });
  return {
    create: `CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL) WITH (${STORAGE})`,
    attach: `ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM (${range.from}) TO (${range.to})`,
  };
}

async function makePartition(pool: Pool, table: PartitionedTable, month: Month, logger: Logger): Promise<boolean> {
  return inTransaction(pool, LOCK_TIMEOUT_MS, async client => {
    await client.query('SELECT pg_advisory_xact_lock($1)', [PARTITION_LOCK]);
    if (isCovered(await listPartitions(client), table, month)) return false;
    const { from, to } = keyRange(table, month);
    const key = PARTITIONED[table];
    const within = `${key} >= ${from} AND ${key} < ${to}`;
    const { rows } = await client.query<{ strays: number }>(
      `SELECT count(*)::int AS strays FROM (SELECT FROM ${table}_default WHERE ${within} LIMIT ${MAX_ROWS_MOVED + 1}) s`,
    );
    const strays = rows[0]?.strays ?? 0;
    if (strays > MAX_ROWS_MOVED) {
      logger.warn({ table, month: monthName(month) }, 'too much of a month is in DEFAULT already; it stays there');
      return false;
    }
    const name = `${table}_${monthName(month)}`;
    const { create, attach } = partitionStatements({ table, name, ...month });
    await client.query(create);
    if (strays > 0) {
      // Otherwise ATTACH would refuse the rows of a writer that came after this statement's snapshot.
      await client.query(`LOCK TABLE ${table}_default IN ACCESS EXCLUSIVE MODE`);
      await client.query(
        `WITH moved AS (DELETE FROM ${table}_default WHERE ${within} RETURNING *) INSERT INTO ${name} SELECT * FROM moved`,
      );
    }
    // Created as a separate table and then attached: CREATE … PARTITION OF would lock the parent against its writers.
    await client.query(attach);
    return true;
  });
}

/** Runs `work` in a transaction whose statements wait at most `lockTimeoutMs` for a lock. */
function inTransaction<T>(pool: Pool, lockTimeoutMs: number, work: (client: PoolClient) => Promise<T>): Promise<T> {
  return transact(pool, async client => {
    await client.query(`SET LOCAL lock_timeout = ${lockTimeoutMs}`);
    return await work(client);
  });
}
