import type { Services } from '../../operation/services.ts';
import { readHorizon } from '../../platform/postgres/horizon.ts';
import { transact } from '../../platform/postgres/transaction.ts';
import { enqueueFailedRuns, enqueueTasks } from './enqueue-store.ts';
import { hasNews, lockProgress, nextBatch, saveProgress } from './progress-store.ts';

/** The maximum number of rows of one transaction, which take the database some 10 ms. */
const BATCH = { tasks: 500, usage: 5_000 };
/** Tasks within a minute of each other share one mail. */
const MAIL_DELAY_MS = 60_000;

/**
 * Adds the deliveries for the next batch of tasks and failed runs: one transaction reads what is after the progress,
 * adds the deliveries and moves the progress, so a process that dies neither loses nor repeats any. Returns whether
 * there may be more.
 *
 * Resuming from the last numbers is safe because nothing beyond the horizons is read: every row up to them is visible or
 * never will be (docs/adr/0038-several-writers.md).
 */
export async function enqueueNext(
  { pool, clock, mail, logger }: Pick<Services, 'pool' | 'clock' | 'mail' | 'logger'>,
  limits = BATCH,
): Promise<boolean> {
  // Checked without a lock first, so that an idle service writes nothing.
  if (!(await hasNews(pool))) return false;
  const tasks = await readHorizon(pool, 'human_tasks', { logger });
  const usage = await readHorizon(pool, 'run_usage', { logger });
  if (tasks === null || usage === null) return false;
  return transact(pool, async db => {
    const progress = await lockProgress(db);
    if (progress === null) return false;
    const next = await nextBatch(db, progress, { limits, horizon: { tasks, usage } });
    const now = clock.now();
    const first = { email: mail === null ? null : now + MAIL_DELAY_MS, webhook: now };
    if (next.taskSeq !== progress.taskSeq) {
      await enqueueTasks(db, { after: progress.taskSeq, upTo: next.taskSeq }, first);
    }
    if (next.usageSeq !== progress.usageSeq) {
      await enqueueFailedRuns(db, { after: progress.usageSeq, upTo: next.usageSeq }, first);
    }
    await saveProgress(db, next);
    return next.taskSeq !== progress.taskSeq || next.usageSeq !== progress.usageSeq;
  });
}
