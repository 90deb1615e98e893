import type { Queryable } from '../../platform/postgres/transaction.ts';
import { aggregateDurations, type Selection } from './durations-store.ts';
import { AGGREGATE } from './rollup-store.ts';
import { aggregateUsage } from './usage-rollup-store.ts';

/**
 * Rows of usage that are aggregated in one transaction: about 0.3 s of the database, and at most some 20 MB of lines.
 */
export const BATCH_ROWS = 5_000;

/** Returns the numbers of the next rows of usage after `after`, up to another number; null if no row follows. */
export async function nextBatch(
  db: Queryable,
  after: number,
  upTo: number,
  batchRows = BATCH_ROWS,
): Promise<{ upTo: number; rows: number; last: boolean } | null> {
  const { rows } = await db.query<{ upto: string | null; count: string }>(
    `SELECT max(seq) AS upto, count(*) AS count FROM (
       SELECT seq FROM run_usage WHERE seq > $1 AND seq <= $2 ORDER BY seq LIMIT $3) batch`,
    [after, upTo, batchRows],
  );
  const { upto = null, count = '0' } = rows[0] ?? {};
  return upto === null ? null : { upTo: Number(upto), rows: Number(count), last: Number(count) < batchRows };
}

/** Adds the selected usage to all rollups. The caller holds the lock of the progress. */
export async function addUsage(db: Queryable, selection: Selection): Promise<void> {
  // Existing rollups are looked up by key: reading all of them for a hash would be faster only while there are few.
  await db.query('SET LOCAL jit = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off');
  await db.query(AGGREGATE, [...selection]);
  await aggregateDurations(db, selection);
  await aggregateUsage(db, selection);
}

const TABLES = ['analytics_totals', 'analytics_triggers', 'analytics_steps', 'analytics_durations', 'usage_sums'];

/**
 * Deletes all rollups from `since` on (null: all), of one project or of all. The caller holds the lock of the progress.
 */
export async function deleteRollups(db: Queryable, since: Date | null, projectId: string | null): Promise<void> {
  for (const table of TABLES) {
    await db.query(
      `DELETE FROM ${table} WHERE ($1::timestamptz IS NULL OR bucket >= $1) AND ($2::uuid IS NULL OR project_id = $2)`,
      [since, projectId],
    );
  }
}
