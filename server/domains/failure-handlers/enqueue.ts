import type { Services } from '../../operation/services.ts';
import { transact } from '../../platform/postgres/transaction.ts';
import { enqueueHandlers, hasNews, lockNextRange, saveProgress } from './enqueue-store.ts';

/** The rows of usage per transaction, which take the database some 10 ms. */
const BATCH = 5_000;

/**
 * Enqueues the handlers of failed runs: one transaction reads the usage after the progress, adds the rows and moves the
 * progress, so a process that dies misses none. Returns whether there may be more.
 */
export async function enqueueNext({ pool, clock }: Pick<Services, 'pool' | 'clock'>, limit = BATCH): Promise<boolean> {
  if (!(await hasNews(pool))) return false;
  return transact(pool, async db => {
    const range = await lockNextRange(db, limit);
    if (range === null || range.after === range.upTo) return false;
    await enqueueHandlers(db, range, clock.now());
    await saveProgress(db, range);
    return true;
  });
}
