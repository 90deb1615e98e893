import { type LeaderJobContext, startLeaderJob } from '../../operation/leader-job.ts';
import type { Services } from '../../operation/services.ts';
import type { RepeatingJob } from '../../platform/repeating-job.ts';
import { enqueueNext } from './enqueue.ts';
import { startDueHandlers } from './start-due.ts';

export type FailureHandlerJobOptions = LeaderJobContext & { services: Services };

const EVERY_MS = 2_000;
/** The delay after a pass that attempted starts: there may be more of them. */
const AGAIN_MS = 50;
const AFTER_FAILURE_MS = 10_000;

/**
 * Starts the workflows that handle failed runs, every two seconds, in the workspaces that this process leads; an idle
 * service writes nothing.
 */
export function startFailureHandlerJob({ services, ...context }: FailureHandlerJobOptions): RepeatingJob {
  const { orchestrator } = services;
  const late = 'failure handlers are late; trying again shortly';
  const options = { ...context, logger: services.logger, everyMs: EVERY_MS, retryMs: AFTER_FAILURE_MS, late };
  return startLeaderJob(options, async closing => {
    while (orchestrator.leadsJobs() && !closing.aborted && (await enqueueNext(services)));
    return !closing.aborted && (await startDueHandlers(services, orchestrator.shards())) > 0 ? AGAIN_MS : EVERY_MS;
  });
}
