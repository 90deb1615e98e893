import type { Pool } from 'pg';
import type { Clock } from '../../platform/clock.ts';
import { type Queryable, transact } from '../../platform/postgres/transaction.ts';
import { foldDurations, type Selection } from './durations-store.ts';
import { lockProgress, readProgress } from './progress-store.ts';
import { FOLD } from './sums-store.ts';
import { foldUsage } from './usage-sums-store.ts';

/** Rows of usage that are folded in one transaction: ~0.3 s of the database, and at most some 20 MB of lines. */
const BATCH_ROWS = 5_000;

/**
 * - `folded`: a batch was added, and there may be more.
 * - `done`: the sums have everything.
 * - `busy`: somebody else is at it.
 */
export type FoldResult = 'folded' | 'done' | 'busy';

/**
 * Adds the next batch of usage to the sums: one transaction that reads the rows after the last one folded, adds them, and
 * moves the progress. Whatever dies in it leaves everything as it was; whoever comes second waits at the progress or, here,
 * goes away: every row is counted once.
 *
 * That reading on from the last number misses nothing rests on numbers becoming visible in their order. Rows are written by
 * the session that holds the leader's lock, one statement after the other, each a transaction that takes its numbers while
 * it runs: when a number can be seen, whatever has a lower one has been committed or never will be. The next leader's session
 * gets the lock when the one before is gone, and its last statement with it. The backfill, which writes beside the leader,
 * does so under the lock of the progress, past which nobody reads meanwhile.
 */
export async function foldNext(pool: Pool, clock: Clock, batchRows = BATCH_ROWS): Promise<FoldResult> {
  const at = clock.now();
  // Without a lock first: an idle service writes nothing.
  const seen = await readProgress(pool);
  if (seen.readySeq === null) return 'busy';
  if (seen.pendingSince === null) return 'done';
  return transact(pool, async db => {
    const progress = await lockProgress(db, { wait: false });
    if (progress === null) return 'busy';
    const batch = await nextBatch(db, progress.seq, null, batchRows);
    if (batch === null) return 'done';
    await addUsage(db, [progress.seq, batch.upTo, null, null]);
    await db.query('UPDATE analytics_progress SET seq = $1, as_of = coalesce(to_timestamp($2::float8 / 1000), as_of)', [
      batch.upTo,
      batch.last ? at : null,
    ]);
    return batch.last ? 'done' : 'folded';
  });
}

/** Folds until the sums have everything that was there. Returns whether they have: not where somebody else is at it. */
export async function foldAll(pool: Pool, clock: Clock, batchRows = BATCH_ROWS): Promise<boolean> {
  for (;;) {
    const result = await foldNext(pool, clock, batchRows);
    if (result !== 'folded') return result === 'done';
  }
}

/** The numbers of the next rows after one, up to another (null = all); null where there are none. */
export async function nextBatch(
  db: Queryable,
  after: number,
  upTo: number | null,
  batchRows = BATCH_ROWS,
): Promise<{ upTo: number; rows: number; last: boolean } | null> {
  const { rows } = await db.query<{ upto: string | null; count: string }>(
    `SELECT max(seq) AS upto, count(*) AS count FROM (
       SELECT seq FROM run_usage WHERE seq > $1 AND ($2::int8 IS NULL OR seq <= $2) ORDER BY seq LIMIT $3) batch`,
    [after, upTo, batchRows],
  );
  const { upto = null, count = '0' } = rows[0] ?? {};
  return upto === null ? null : { upTo: Number(upto), rows: Number(count), last: Number(count) < batchRows };
}

/** Adds the selected usage to all sums. The caller holds the lock of the progress. */
export async function addUsage(db: Queryable, selection: Selection): Promise<void> {
  // What is there is looked up by its key: reading all sums for a hash would be quicker only while there are few.
  await db.query('SET LOCAL jit = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off');
  await db.query(FOLD, [...selection]);
  await foldDurations(db, selection);
  await foldUsage(db, selection);
}
