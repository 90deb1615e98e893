import { createDailyPurge, type LeaderJobContext, startLeaderJob } from '../../operation/leader-job.ts';
import type { Services } from '../../operation/services.ts';
import { DAY_MS } from '../../platform/clock.ts';
import type { RepeatingJob } from '../../platform/repeating-job.ts';
import { embedPending } from './embeddings/embed-pending.ts';
import { deleteExtractions } from './extraction/store.ts';
import { deleteRecalls } from './recalls-store.ts';

export type MemoryJobOptions = LeaderJobContext & { services: Services };

const EVERY_MS = 2_000;
/** The delay after a pass that embedded texts, because more texts may be pending. */
const AGAIN_MS = 20;
const AFTER_FAILURE_MS = 30_000;
/** The retention of recalls. They matter only for conversations that are still going on. */
const RECALLS_KEPT_MS = 30 * DAY_MS;
/** The time for which the job of an extraction can be read. */
const EXTRACTIONS_KEPT_MS = 90 * DAY_MS;

/** Starts the job that embeds pending texts, and purges old recalls and extractions once a day. It is idle without memory. */
export function startMemoryJob({ services, ...context }: MemoryJobOptions): RepeatingJob {
  const { config, logger, clock, pool } = services;
  const late = 'the embeddings of memory are delayed; retrying shortly';
  const purge = createDailyPurge(
    clock,
    now => deleteRecalls(pool, new Date(now - RECALLS_KEPT_MS)),
    now => deleteExtractions(pool, new Date(now - EXTRACTIONS_KEPT_MS)),
  );
  const options = { ...context, logger, everyMs: EVERY_MS, retryMs: AFTER_FAILURE_MS, late };
  return startLeaderJob(options, async closing => {
    if (!config.memory.on) return EVERY_MS;
    await purge(closing);
    return (await embedPending(services, closing)) ? AGAIN_MS : EVERY_MS;
  });
}
