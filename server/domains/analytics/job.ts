import type { Pool } from 'pg';
import { type LeaderJobContext, startLeaderJob } from '../../operation/leader-job.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { RepeatingJob } from '../../platform/repeating-job.ts';
import { aggregateNext } from './aggregate.ts';
import { backfill } from './backfill-store.ts';
import { readProgress } from './progress-store.ts';

export type AnalyticsJobOptions = LeaderJobContext & {
  database: { url: string; pool: Pool };
  clock: Clock;
  logger: Logger;
};

/** The pause between two aggregations, which limits the lag of the rollups. */
const EVERY_MS = 2_000;
/** A slow aggregation gets a tenth of the time, since runs come first, but it runs at least once a minute. */
const REST_FACTOR = 9;
const MAX_PAUSE_MS = 60_000;
const AFTER_FAILURE_MS = 10_000;

/** Backfills older runs, and then aggregates new usage every two seconds; an idle service writes nothing. */
export function startAnalyticsJob({ database, clock, logger, ...context }: AnalyticsJobOptions): RepeatingJob {
  const late = 'analytics are behind; aggregation continues shortly';
  const options = { ...context, logger, everyMs: EVERY_MS, retryMs: AFTER_FAILURE_MS, late, level: 'warn' } as const;
  return startLeaderJob(options, async closing => {
    const beganAt = clock.now();
    if ((await readProgress(database.pool)).readySeq === null) await backfill(database.url, logger, closing);
    while (!closing.aborted && (await aggregateNext(database.pool, clock, undefined, { logger })) === 'aggregated');
    return Math.min(MAX_PAUSE_MS, Math.max(EVERY_MS, REST_FACTOR * (clock.now() - beganAt)));
  });
}
