import type { Pool } from 'pg';
import type { Alarm, Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { type RepeatingJob, startRepeatingJob } from '../../platform/repeating-job.ts';
import { aggregateNext } from './aggregate.ts';
import { backfill } from './backfill-store.ts';
import { readProgress } from './progress-store.ts';

export type AnalyticsJobOptions = {
  database: { url: string; pool: Pool };
  clock: Clock;
  alarm: Alarm;
  logger: Logger;
  /** Returns whether this process leads, and so does the work. Two could, but one would do nothing. */
  leading: () => boolean;
};

/** How far the rollups lag at most, if aggregation is fast. */
const EVERY_MS = 2_000;
/** If it is slow, it takes a tenth of the time, since runs come first; but it runs at least once a minute. */
const REST = 9;
const SELDOMEST_MS = 60_000;
const AFTER_FAILURE_MS = 10_000;

/** Aggregates new usage every two seconds; an idle service writes nothing. First of all it backfills older runs. */
export function startAnalyticsJob({ database, clock, alarm, logger, leading }: AnalyticsJobOptions): RepeatingJob {
  /** Runs a pass; returns in how many ms the next one is due. */
  const pass = async (closing: AbortSignal): Promise<number> => {
    if (!leading()) return EVERY_MS;
    const beganAt = clock.now();
    try {
      if ((await readProgress(database.pool)).readySeq === null) await backfill(database.url, logger, closing);
      while (!closing.aborted && (await aggregateNext(database.pool, clock)) === 'aggregated');
      return Math.min(SELDOMEST_MS, Math.max(EVERY_MS, REST * (clock.now() - beganAt)));
    } catch (error) {
      if (!closing.aborted) logger.warn({ err: error }, 'analytics are behind; aggregation continues shortly');
      return AFTER_FAILURE_MS;
    }
  };
  return startRepeatingJob(alarm, EVERY_MS, pass);
}
