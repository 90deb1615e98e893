import { type Alarm, type Clock, DAY_MS } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import { type RepeatingJob, startRepeatingJob } from '../platform/repeating-job.ts';

/** The surroundings of a job of the process that leads. */
export type LeaderJobContext = {
  alarm: Alarm;
  /** Returns whether this process leads, and so does the work. Two at once do no harm, but one would do nothing. */
  leading: () => boolean;
};

export type LeaderJobOptions = LeaderJobContext & {
  logger: Pick<Logger, 'warn' | 'error'>;
  /** The delay after a pass that says no other, and until a standby looks again whether it leads, in ms. */
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
 * Starts work that the process that leads does by and by. A pass may return in how many ms the next one is due. One that fails is
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
 * Returns the part of a pass that purges what is old: at most once a day, each kind until nothing of it is left. A `purge`
 * deletes some of what is due `now` and returns how much that was.
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
