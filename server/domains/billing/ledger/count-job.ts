import type { Pool } from 'pg';
import { type LeaderJobContext, startLeaderJob } from '../../../operation/leader-job.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { RepeatingJob } from '../../../platform/repeating-job.ts';
import { countCharges } from './count-store.ts';

export type CountJobOptions = LeaderJobContext & { pool: Pool; clock: Clock; logger: Logger };

/**
 * The pause between two counts. Readers of a balance add the usage that is not counted yet: at 1,000 commits a second,
 * this interval has 2,000 rows, which take 1 ms.
 */
const EVERY_MS = 2_000;
const AFTER_FAILURE_MS = 10_000;

/** Counts charges into the accounts every two seconds; an idle service writes nothing. */
export function startCountJob({ pool, clock, logger, ...context }: CountJobOptions): RepeatingJob {
  const late = 'charges are not counted into their accounts; it is tried again in a moment';
  const options = { ...context, logger, everyMs: EVERY_MS, retryMs: AFTER_FAILURE_MS, late };
  return startLeaderJob(options, async closing => {
    while (!closing.aborted && (await countCharges(pool, clock.now(), undefined, { logger })) === 'counted');
    return EVERY_MS;
  });
}
