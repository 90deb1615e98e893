import type { Services } from '../../operation/services.ts';
import { readHorizon } from '../../platform/postgres/horizon.ts';
import { transact } from '../../platform/postgres/transaction.ts';
import { enqueueHandlers, hasNews, lockNextRange, saveProgress } from './enqueue-store.ts';

/** The rows of usage per transaction, which take the database some 10 ms. */
const BATCH = 5_000;

/**
 * Enqueues the handlers of failed runs: one transaction reads the usage after the progress, adds the rows and moves the
 * progress, so a process that dies misses none. It never passes the horizon (docs/adr/0038-several-writers.md). Returns whether there may be more.
 */
export async function enqueueNext(
  { pool, clock, logger }: Pick<Services, 'pool' | 'clock' | 'logger'>,
  limit = BATCH,
): Promise<boolean> {
  if (!(await hasNews(pool))) return false;
  const horizon = await readHorizon(pool, 'run_usage', { logger });
  if (horizon === null) return false;
  return transact(pool, async db => {
    const range = await lockNextRange(db, { limit, horizon });
    if (range === null || range.after === range.upTo) return false;
    await enqueueHandlers(db, range, clock.now());
    await saveProgress(db, range);
    return true;
  });
}
