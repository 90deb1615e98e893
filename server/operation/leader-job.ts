import { type Alarm, type Clock, DAY_MS } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import { type RepeatingJob, startRepeatingJob } from '../platform/repeating-job.ts';

/** The context of a job of the leading process. */
export type LeaderJobContext = {
  alarm: Alarm;
  /**
   * Returns whether this process leads and therefore does the work. Two processes at once do no harm, but without a leader no
   * process would work.
   */
  leading: () => boolean;
};

export type LeaderJobOptions = LeaderJobContext & {
  logger: Pick<Logger, 'warn' | 'error'>;
  /** The default delay after a pass, and the delay until a standby checks again whether it leads, in ms. */
  everyMs: number;
  /** The delay after a pass that failed, in ms. */
  retryMs: number;
  /** The delay before the first pass, in ms. Default: `everyMs`. */
  firstMs?: number;
  /** The message that is logged for a pass that failed, and its level. Default: error. */
  late: string;
  level?: 'warn' | 'error';
};

/**
 * Starts work that the leading process does in passes. A pass may return the delay until the next one, in ms. A failed pass is
 * logged and repeated, unless the service is closing.
 */
export function startLeaderJob(
  { alarm, leading, logger, everyMs, retryMs, firstMs = everyMs, late, level = 'error' }: LeaderJobOptions,
  pass: (closing: AbortSignal) => Promise<number | undefined>,
): RepeatingJob {
  return startRepeatingJob(alarm, firstMs, async closing => {
    if (!leading()) return everyMs;
    try {
      return (await pass(closing)) ?? everyMs;
    } catch (error) {
      if (!closing.aborted) logger[level]({ err: error }, late);
      return retryMs;
    }
  });
}

/**
 * Returns the part of a pass that purges old data: at most once a day, each kind until nothing is left to delete. A `purge`
 * deletes some of the rows that are due at `now` and returns their number.
 */
export function createDailyPurge(
  clock: Clock,
  ...purges: ((now: number) => Promise<number>)[]
): (closing: AbortSignal) => Promise<void> {
  let purgedAt = Number.NEGATIVE_INFINITY;
  return async closing => {
    const now = clock.now();
    if (now - purgedAt < DAY_MS) return;
    for (const purge of purges) while (!closing.aborted && (await purge(now)) > 0);
    purgedAt = now;
  };
}
