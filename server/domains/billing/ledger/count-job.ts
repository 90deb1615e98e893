import type { Pool } from 'pg';
import type { Alarm, Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logger.ts';
import { type RepeatingJob, startRepeatingJob } from '../../../platform/repeating-job.ts';
import { countCharges } from './count-store.ts';

export type CountJobOptions = {
  pool: Pool;
  clock: Clock;
  alarm: Alarm;
  logger: Logger;
  /** Returns whether this process leads, and so does the work. Two could, but one would do nothing. */
  leading: () => boolean;
};

/**
 * Readers of a balance add the usage that is not counted yet: at 1,000 commits a second, the 2,000 rows
 * of this interval take 1 ms.
 */
const EVERY_MS = 2_000;
const AFTER_FAILURE_MS = 10_000;

/** Counts charges into the accounts every two seconds; an idle service writes nothing. */
export function startCountJob({ pool, clock, alarm, logger, leading }: CountJobOptions): RepeatingJob {
  /** Runs a pass; returns in how many ms the next one is due. */
  const pass = async (closing: AbortSignal): Promise<number> => {
    if (!leading()) return EVERY_MS;
    try {
      while (!closing.aborted && (await countCharges(pool, clock.now())) === 'counted');
      return EVERY_MS;
    } catch (error) {
      if (!closing.aborted)
        logger.error({ err: error }, 'charges are not counted into their accounts; it is tried again in a moment');
      return AFTER_FAILURE_MS;
    }
  };
  return startRepeatingJob(alarm, EVERY_MS, pass);
}
