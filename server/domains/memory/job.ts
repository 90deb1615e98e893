import type { Services } from '../../operation/services.ts';
import { type Alarm, DAY_MS } from '../../platform/clock.ts';
import { type RepeatingJob, startRepeatingJob } from '../../platform/repeating-job.ts';
import { embedPending } from './embeddings/embed-pending.ts';
import { deleteExtractions } from './extraction/store.ts';
import { deleteRecalls } from './recalls-store.ts';

export type MemoryJobOptions = {
  services: Services;
  alarm: Alarm;
  /** Returns whether this process leads, and so does the work. */
  leading: () => boolean;
};

const EVERY_MS = 2_000;
/** The delay after a pass that embedded texts: there may be more of them. */
const AGAIN_MS = 20;
const AFTER_FAILURE_MS = 30_000;
const CLEAN_EVERY_MS = DAY_MS;
/** How long recalls are kept. An older one does not belong to a conversation that is still going on. */
const RECALLS_KEPT_MS = 30 * DAY_MS;
/** For so long a job of extraction can be looked up. */
const EXTRACTIONS_KEPT_MS = 90 * DAY_MS;

/** Embeds texts that wait, and purges old recalls and jobs once a day. Without memory it does nothing. */
export function startMemoryJob({ services, alarm, leading }: MemoryJobOptions): RepeatingJob {
  let cleanedAt = Number.NEGATIVE_INFINITY;
  /** Runs a pass; returns in how many ms the next one is due. */
  const pass = async (closing: AbortSignal): Promise<number> => {
    if (!services.config.memory.on || !leading()) return EVERY_MS;
    try {
      const now = services.clock.now();
      if (now - cleanedAt >= CLEAN_EVERY_MS) {
        while (!closing.aborted && (await deleteRecalls(services.pool, new Date(now - RECALLS_KEPT_MS))) > 0);
        while (!closing.aborted && (await deleteExtractions(services.pool, new Date(now - EXTRACTIONS_KEPT_MS))) > 0);
        cleanedAt = now;
      }
      return (await embedPending(services, closing)) ? AGAIN_MS : EVERY_MS;
    } catch (error) {
      if (!closing.aborted)
        services.logger.error({ err: error }, 'embeddings of memory are late; trying again shortly');
      return AFTER_FAILURE_MS;
    }
  };
  return startRepeatingJob(alarm, EVERY_MS, pass);
}
