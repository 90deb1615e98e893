import type { Pool } from 'pg';
import type { Clock } from '../../platform/clock.ts';
import { type HorizonOptions, readHorizon } from '../../platform/postgres/horizon.ts';
import { transact } from '../../platform/postgres/transaction.ts';
import { addUsage, BATCH_ROWS, nextBatch } from './aggregate-store.ts';
import { lockProgress, readProgress, saveProgress } from './progress-store.ts';

/**
 * The result of aggregating one batch.
 * - `aggregated`: a batch was added, and there may be more.
 * - `done`: all usage is in the rollups.
 * - `busy`: another caller is aggregating, or a transaction that writes usage does not end.
 */
export type AggregateResult = 'aggregated' | 'done' | 'busy';

/**
 * Adds the next batch of usage to the rollups: one transaction that reads the rows after the last aggregated one, adds
 * them, and moves the progress. Each row is counted once: a crash rolls everything back, and a second caller waits for
 * the lock of the progress or, here, returns `busy`.
 *
 * Resuming from the last number is safe because nothing beyond the horizon is read: every row up to it is visible or
 * never will be, regardless of the writer (docs/adr/0038-several-writers.md).
 */
export async function aggregateNext(
  pool: Pool,
  clock: Clock,
  batchRows = BATCH_ROWS,
  options: HorizonOptions = {},
): Promise<AggregateResult> {
  const at = clock.now();
  // Checked without a lock first, so that an idle service writes nothing.
  const seen = await readProgress(pool);
  if (seen.readySeq === null) return 'busy';
  if (seen.pendingSince === null) return 'done';
  const horizon = await readHorizon(pool, 'run_usage', options);
  if (horizon === null) return 'busy';
  return transact(pool, async db => {
    const progress = await lockProgress(db, { wait: false });
    if (progress === null) return 'busy';
    const batch = await nextBatch(db, progress.seq, horizon, batchRows);
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
