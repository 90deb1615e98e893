import { type LeaderJobContext, startLeaderJob } from '../../operation/leader-job.ts';
import type { Services } from '../../operation/services.ts';
import type { RepeatingJob } from '../../platform/repeating-job.ts';
import { deliverDue } from './deliver.ts';
import { enqueueNext } from './enqueue.ts';

export type NotificationJobOptions = LeaderJobContext & { services: Services };

const EVERY_MS = 2_000;
/** The delay after a pass that attempted deliveries: there may be more of them. */
const AGAIN_MS = 50;
const AFTER_FAILURE_MS = 10_000;

/**
 * Writes deliveries for new tasks and failed runs, and attempts those that are due, every two seconds. An idle service
 * writes nothing.
 */
export function startNotificationJob({ services, ...context }: NotificationJobOptions): RepeatingJob {
  const late = 'notifications are late; trying again shortly';
  const options = { ...context, logger: services.logger, everyMs: EVERY_MS, retryMs: AFTER_FAILURE_MS, late };
  return startLeaderJob(options, async closing => {
    while (!closing.aborted && (await enqueueNext(services)));
    return !closing.aborted && (await deliverDue(services, closing)) > 0 ? AGAIN_MS : EVERY_MS;
  });
}
