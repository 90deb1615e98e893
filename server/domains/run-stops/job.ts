import { type LeaderJobContext, startLeaderJob } from '../../operation/leader-job.ts';
import type { Services } from '../../operation/services.ts';
import { isAmong } from '../../orchestrator/shards/slot.ts';
import { isDatabaseAway } from '../../platform/postgres/away.ts';
import type { RepeatingJob } from '../../platform/repeating-job.ts';
import { listDueStops, type StopRow } from './store.ts';
import { type TurnResult, workOnStop } from './work.ts';

export type RunStopJobOptions = LeaderJobContext & { services: Services };

const EVERY_MS = 1_000;
const AFTER_FAILURE_MS = 2_000;
/** The ms until the next pass, by the result of the last one. */
const NEXT_MS: Record<TurnResult, number> = { worked: 5, busy: 300, waiting: 500, finished: 5 };

/** Starts the job of bulk actions. A pass works on one bulk action of each workspace that this process leads. */
export function startRunStopJob({ services, ...context }: RunStopJobOptions): RepeatingJob {
  const late = 'bulk stops are late; trying again shortly';
  const options = { ...context, logger: services.logger, everyMs: EVERY_MS, retryMs: AFTER_FAILURE_MS, late };
  return startLeaderJob(options, closing => takeTurns(services, closing));
}

/** Works on one bulk action of each workspace. Returns the ms until the next pass. */
async function takeTurns(services: Services, closing: AbortSignal): Promise<number> {
  let next = EVERY_MS;
  const shards = services.orchestrator.shards();
  for (const stop of await listDueStops(services.pool)) {
    if (closing.aborted) break;
    if (!isAmong(shards, stop.tenantId)) continue;
    next = Math.min(next, await takeTurn(services, stop));
  }
  return next;
}

/** Works on a bulk action and logs its failure, so that it does not delay those of other workspaces. */
async function takeTurn(services: Services, stop: StopRow): Promise<number> {
  try {
    return NEXT_MS[await workOnStop(services, stop)];
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    services.logger.error({ err: error, tenant_id: stop.tenantId, stop_id: stop.id }, 'a bulk stop is late');
    return AFTER_FAILURE_MS;
  }
}
