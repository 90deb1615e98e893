import type { Pool } from 'pg';
import type { Clock } from '../../platform/clock.ts';
import { transact } from '../../platform/postgres/transaction.ts';
import { addUsage, BATCH_ROWS, nextBatch } from './fold-store.ts';
import { lockProgress, readProgress, saveProgress } from './progress-store.ts';

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
    await saveProgress(db, batch.upTo, batch.last ? at : null);
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
