import type { Services } from '../../operation/services.ts';
import { type Alarm, DAY_MS } from '../../platform/clock.ts';
import { type RepeatingJob, startRepeatingJob } from '../../platform/repeating-job.ts';
import { proceed } from './answers/proceed.ts';
import { purgeThreads } from './answers/store.ts';

export type ChatJobOptions = {
  services: Services;
  alarm: Alarm;
  /** Returns whether this process leads, and so does the work. */
  leading: () => boolean;
};

/**
 * The pause between passes. This process continues its own answers: the job picks up those that another process has
 * left behind.
 */
const EVERY_MS = 2_000;
const AGAIN_MS = 50;
const AFTER_FAILURE_MS = 10_000;

/** Starts answers that wait, keeps those that have ended, and purges threads once a day. An idle service writes nothing. */
export function startChatJob({ services, alarm, leading }: ChatJobOptions): RepeatingJob {
  let purgedAt = Number.NEGATIVE_INFINITY;
  /** Runs a pass; returns in how many ms the next one is due. */
  const pass = async (closing: AbortSignal): Promise<number> => {
    if (!services.config.agents || !leading()) return EVERY_MS;
    try {
      const now = services.clock.now();
      if (now - purgedAt >= DAY_MS) {
        while (!closing.aborted && (await purgeThreads(services.pool, new Date(now))) > 0);
        purgedAt = now;
      }
      return !closing.aborted && (await proceed(services)) > 0 ? AGAIN_MS : EVERY_MS;
    } catch (error) {
      if (!closing.aborted) services.logger.error({ err: error }, 'answers of chats are late; trying again shortly');
      return AFTER_FAILURE_MS;
    }
  };
  return startRepeatingJob(alarm, EVERY_MS, pass);
}
