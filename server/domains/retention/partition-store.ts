import type { ClientBase } from 'pg';
import type { Partition } from '../../platform/postgres/partitions.ts';
import { transactOn } from '../../platform/postgres/transaction.ts';
import { type IdRange, idRange, rowBytes } from './ranges.ts';

/**
 * The outcome for a partition. `kept`: the whole partition is still needed. `postponed`: nothing was changed, for the
 * given reason.
 */
export type Disposal =
  | { outcome: 'dropped' | 'rewritten' | 'kept' }
  | { outcome: 'postponed'; reason: 'locked' | 'too_many_live' | 'not_counted' };

/**
 * Writers to the locked table wait for this transaction: while it waits for the lock, and during the work that follows.
 * Together that must not take longer than the two seconds for which a commit may wait. Work that takes longer is rolled
 * back and tried again later.
 */
const LOCK_TIMEOUT_MS = 500;
const COPY_TIMEOUT_MS = 500;
const WRITE_TIMEOUT_MS = 900;
/**
 * The maximum number of rows that may be written back while the partition is locked: 0.3 s for 20,000 rows on a machine with a load
 * of five.
 */
const MAX_ROWS_KEPT = 50_000;
const MAX_BYTES_KEPT = 32 * 1024 * 1024;

/**
 * Purges a partition of the log whose expired runs have been deleted. Drops it if no run is left in its range.
 * Otherwise, if it has logs of deleted runs, empties it and writes the other logs back. Either is one transaction, so a
 * process that dies in it leaves everything unchanged.
 */
export async function purgePartition(client: ClientBase, partition: Partition): Promise<Disposal> {
  const range = idRange(partition);
  try {
    if (!(await hasRuns(client, range))) {
      await stopVacuum(client, partition);
      if (await drop(client, partition, range)) return { outcome: 'dropped' };
    }
    if (!(await hasOrphans(client, partition))) return { outcome: 'kept' };
    if (await keepsTooMuch(client, partition, range)) return { outcome: 'postponed', reason: 'too_many_live' };
    await stopVacuum(client, partition);
    await rewrite(client, partition, range);
    return { outcome: 'rewritten' };
  } catch (error) {
    if (isTimeout(error)) return { outcome: 'postponed', reason: 'locked' };
    throw error;
  }
}

/** Drops a partition of usage in which every row is expired. */
export async function dropUsage(client: ClientBase, partition: Partition): Promise<Disposal> {
  try {
    await stopVacuum(client, partition);
    await transaction(client, async () => {
      await client.query(`LOCK TABLE ONLY ${partition.table} IN ACCESS EXCLUSIVE MODE`);
      await client.query(`DROP TABLE ${partition.name}`);
    });
    return { outcome: 'dropped' };
  } catch (error) {
    if (isTimeout(error)) return { outcome: 'postponed', reason: 'locked' };
    throw error;
  }
}

/** lock_not_available, or query_canceled by statement_timeout. */
const isTimeout = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === '55P03' || error.code === '57014');

async function hasRuns(client: ClientBase, { from, to }: IdRange): Promise<boolean> {
  const { rowCount } = await client.query('SELECT FROM runs WHERE id >= $1 AND ($2::uuid IS NULL OR id < $2) LIMIT 1', [
    from,
    to,
  ]);
  return rowCount !== 0;
}

/**
 * Returns whether there is a log without its run. Every log begins with number 1, so only the first row of each log is
 * read.
 */
async function hasOrphans(client: ClientBase, { table, name }: Partition): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT FROM ${name} l WHERE ${table === 'run_events' ? 'l.seq = 1' : 'true'}
       AND NOT EXISTS (SELECT FROM runs r WHERE r.id = l.run_id) LIMIT 1`,
  );
  return rowCount !== 0;
}

async function keepsTooMuch(client: ClientBase, partition: Partition, { from, to }: IdRange): Promise<boolean> {
  const { rows } = await client.query<{ count: number; bytes: string }>(
    `SELECT count(*)::int AS count, coalesce(sum(size), 0) AS bytes
     FROM (SELECT ${rowBytes(partition, 'l')} AS size FROM runs r JOIN ${partition.name} l ON l.run_id = r.id
           WHERE r.id >= $1 AND ($2::uuid IS NULL OR r.id < $2) LIMIT ${MAX_ROWS_KEPT + 1}) kept`,
    [from, to],
  );
  const { count = 0, bytes = '0' } = rows[0] ?? {};
  return count > MAX_ROWS_KEPT || Number(bytes) > MAX_BYTES_KEPT;
}

/**
 * Stops a vacuum of the partition, which would hold the partition for minutes. A vacuum yields to this lock, which
 * blocks no writer, and yields to no other statement.
 */
async function stopVacuum(client: ClientBase, { name }: Partition): Promise<void> {
  await client.query(`SET lock_timeout = 5000`);
  await client.query(`ALTER TABLE ${name} SET (autovacuum_enabled = false)`);
}

/** Drops the partition; returns false if a run has started in its range meanwhile, under an id given by a client. */
function drop(client: ClientBase, { table, name }: Partition, range: IdRange): Promise<boolean> {
  return transaction(client, async () => {
    // Locks the parent first, as every reader does. A transaction that inserts a run and its first event already holds
    // the parent, or waits.
    await client.query(`LOCK TABLE ONLY ${table} IN ACCESS EXCLUSIVE MODE`);
    if (await hasRuns(client, range)) return false;
    await client.query(`DROP TABLE ${name}`);
    return true;
  });
}

/**
 * Rewrites the partition. Only this partition is locked, so writers of other months are unaffected. A live run of this
 * month waits, with its batch, until the kept rows have been written back.
 */
async function rewrite(client: ClientBase, { name }: Partition, { from, to }: IdRange): Promise<void> {
  await transaction(client, async () => {
    await client.query(`LOCK TABLE ${name} IN ACCESS EXCLUSIVE MODE`);
    const range = `r.id >= '${from}'${to === null ? '' : ` AND r.id < '${to}'`}`;
    await client.query(
      `CREATE TEMP TABLE kept ON COMMIT DROP AS SELECT l.* FROM runs r JOIN ${name} l ON l.run_id = r.id WHERE ${range}`,
    );
    await client.query(`SET LOCAL statement_timeout = ${WRITE_TIMEOUT_MS}`);
    await client.query(`TRUNCATE ${name}`);
    await client.query(`INSERT INTO ${name} SELECT * FROM kept ORDER BY run_id`);
    await client.query(`ALTER TABLE ${name} RESET (autovacuum_enabled)`);
  });
}

function transaction<T>(client: ClientBase, work: () => Promise<T>): Promise<T> {
  return transactOn(client, 'ordinary', async () => {
    await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}; SET LOCAL statement_timeout = ${COPY_TIMEOUT_MS}`);
    return await work();
  });
}
