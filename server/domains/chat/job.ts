import { createDailyPurge, type LeaderJobContext, startLeaderJob } from '../../operation/leader-job.ts';
import type { Services } from '../../operation/services.ts';
import type { RepeatingJob } from '../../platform/repeating-job.ts';
import { processAnswers } from './answers/process.ts';
import { purgeThreads } from './answers/store.ts';

export type ChatJobOptions = LeaderJobContext & { services: Services };

/**
 * The pause between passes. A process continues its own answers, so the job only picks up the answers of other
 * processes.
 */
const EVERY_MS = 2_000;
const AGAIN_MS = 50;
const AFTER_FAILURE_MS = 10_000;

/**
 * Starts the job that starts queued answers and saves ended ones, of the workspaces that this process leads, and purges
 * threads once a day. The job writes nothing in an idle service.
 */
export function startChatJob({ services, ...context }: ChatJobOptions): RepeatingJob {
  const { config, logger, clock, pool, orchestrator } = services;
  const late = 'the answers of chats are delayed; retrying shortly';
  const purge = createDailyPurge(clock, now => purgeThreads(pool, new Date(now)));
  const options = { ...context, logger, everyMs: EVERY_MS, retryMs: AFTER_FAILURE_MS, late };
  return startLeaderJob(options, async closing => {
    if (!config.agents) return EVERY_MS;
    const shards = orchestrator.shards();
    if (orchestrator.leadsJobs()) await purge(closing);
    return !closing.aborted && (await processAnswers(services, null, shards)) > 0 ? AGAIN_MS : EVERY_MS;
  });
}
