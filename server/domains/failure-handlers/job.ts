import type { Services } from '../../operation/services.ts';
import type { Alarm } from '../../platform/clock.ts';
import { type RepeatingJob, startRepeatingJob } from '../../platform/repeating-job.ts';
import { enqueueNext } from './enqueue.ts';
import { startDueHandlers } from './start-due.ts';

export type FailureHandlerJobOptions = {
  services: Services;
  alarm: Alarm;
  /** Returns whether this process leads, and so does the work. */
  leading: () => boolean;
};

const EVERY_MS = 2_000;
/** The delay after a pass that attempted starts: there may be more of them. */
const AGAIN_MS = 50;
const AFTER_FAILURE_MS = 10_000;

/** Starts the workflows that handle failed runs, every two seconds; an idle service writes nothing. */
export function startFailureHandlerJob({ services, alarm, leading }: FailureHandlerJobOptions): RepeatingJob {
  /** Runs a pass; returns in how many ms the next one is due. */
  const pass = async (closing: AbortSignal): Promise<number> => {
    if (!leading()) return EVERY_MS;
    try {
      while (!closing.aborted && (await enqueueNext(services)));
      if (closing.aborted) return EVERY_MS;
      return (await startDueHandlers(services)) > 0 ? AGAIN_MS : EVERY_MS;
    } catch (error) {
      if (!closing.aborted) services.logger.error({ err: error }, 'failure handlers are late; trying again shortly');
      return AFTER_FAILURE_MS;
    }
  };
  return startRepeatingJob(alarm, EVERY_MS, pass);
}
