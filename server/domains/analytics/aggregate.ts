import type { Pool } from 'pg';
import type { Clock } from '../../platform/clock.ts';
import { transact } from '../../platform/postgres/transaction.ts';
import { addUsage, BATCH_ROWS, nextBatch } from './aggregate-store.ts';
import { lockProgress, readProgress, saveProgress } from './progress-store.ts';

/**
 * The result of aggregating one batch.
 * - `aggregated`: a batch was added, and there may be more.
 * - `done`: all usage is in the rollups.
 * - `busy`: another caller is aggregating.
 */
export type AggregateResult = 'aggregated' | 'done' | 'busy';

/**
 * Adds the next batch of usage to the rollups: one transaction that reads the rows after the last aggregated one, adds
 * them, and moves the progress. Each row is counted once: a crash rolls everything back, and a second caller waits for
 * the lock of the progress or, here, returns `busy`.
 *
 * Resuming from the last number is safe because numbers become visible in order. Rows are written by the session that
 * holds the leader's lock, one statement after the other, each a transaction that takes its numbers while it runs: once
 * a number is visible, every lower one has been committed or never will be. The next leader's session gets the lock
 * after the previous session has ended, together with its last statement. The backfill, which writes alongside the
 * leader, holds the lock of the progress, without which nothing is read.
 */
export async function aggregateNext(pool: Pool, clock: Clock, batchRows = BATCH_ROWS): Promise<AggregateResult> {
  const at = clock.now();
  // Checked without a lock first, so that an idle service writes nothing.
  const seen = await readProgress(pool);
  if (seen.readySeq === null) return 'busy';
  if (seen.pendingSince === null) return 'done';
  return transact(pool, async db => {
    const progress = await lockProgress(db, { wait: false });
    if (progress === null) return 'busy';
    const batch = await nextBatch(db, progress.seq, null, batchRows);
    if (batch === null) return 'done';
    await addUsage(db, [progress.seq, batch.upTo, null, null]);
    await saveProgress(db, batch.upTo, batch.last ? at : null);
    return batch.last ? 'done' : 'aggregated';
  });
}

/** Aggregates until the rollups contain all usage that existed at the call. Returns false if another caller is aggregating. */
export async function aggregateAll(pool: Pool, clock: Clock, batchRows = BATCH_ROWS): Promise<boolean> {
  for (;;) {
    const result = await aggregateNext(pool, clock, batchRows);
    if (result !== 'aggregated') return result === 'done';
  }
}
