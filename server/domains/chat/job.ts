import { createDailyPurge, type LeaderJobContext, startLeaderJob } from '../../operation/leader-job.ts';
import type { Services } from '../../operation/services.ts';
import type { RepeatingJob } from '../../platform/repeating-job.ts';
import { proceed } from './answers/proceed.ts';
import { purgeThreads } from './answers/store.ts';

export type ChatJobOptions = LeaderJobContext & { services: Services };

/**
 * The pause between passes. This process continues its own answers: the job picks up those that another process has
 * left behind.
 */
const EVERY_MS = 2_000;
const AGAIN_MS = 50;
const AFTER_FAILURE_MS = 10_000;

/** Starts answers that wait, keeps those that have ended, and purges threads once a day. An idle service writes nothing. */
export function startChatJob({ services, ...context }: ChatJobOptions): RepeatingJob {
  const { config, logger, clock, pool } = services;
  const late = 'answers of chats are late; trying again shortly';
  const purge = createDailyPurge(clock, now => purgeThreads(pool, new Date(now)));
  const options = { ...context, logger, everyMs: EVERY_MS, retryMs: AFTER_FAILURE_MS, late };
  return startLeaderJob(options, async closing => {
    if (!config.agents) return EVERY_MS;
    await purge(closing);
    return !closing.aborted && (await proceed(services)) > 0 ? AGAIN_MS : EVERY_MS;
  });
}
