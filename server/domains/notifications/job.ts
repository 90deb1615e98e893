import type { Services } from '../../operation/services.ts';
import type { Alarm } from '../../platform/clock.ts';
import { type RepeatingJob, startRepeatingJob } from '../../platform/repeating-job.ts';
import { deliverDue } from './deliver.ts';
import { enqueueNext } from './enqueue.ts';

export type NotificationJobOptions = {
  services: Services;
  alarm: Alarm;
  /** Returns whether this process leads, and so does the work. */
  leading: () => boolean;
};

const EVERY_MS = 2_000;
/** The delay after a pass that attempted deliveries: there may be more of them. */
const AGAIN_MS = 50;
const AFTER_FAILURE_MS = 10_000;

/** Writes deliveries for what happened, and attempts those that are due, every two seconds; an idle service writes nothing. */
export function startNotificationJob({ services, alarm, leading }: NotificationJobOptions): RepeatingJob {
  /** Runs a pass; returns in how many ms the next one is due. */
  const pass = async (closing: AbortSignal): Promise<number> => {
    if (!leading()) return EVERY_MS;
    try {
      while (!closing.aborted && (await enqueueNext(services)));
      if (closing.aborted) return EVERY_MS;
      return (await deliverDue(services, closing)) > 0 ? AGAIN_MS : EVERY_MS;
    } catch (error) {
      if (!closing.aborted) services.logger.error({ err: error }, 'notifications are late; trying again shortly');
      return AFTER_FAILURE_MS;
    }
  };
  return startRepeatingJob(alarm, EVERY_MS, pass);
}
