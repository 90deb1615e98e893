import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { type LeaderJobContext, startLeaderJob } from '../../operation/leader-job.ts';
import { type Clock, DAY_MS, HOUR_MS } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { type DatabaseClock, readDatabaseClock } from '../../platform/postgres/database-clock.ts';
import { ensurePartitions } from '../../platform/postgres/partitions.ts';
import type { RepeatingJob } from '../../platform/repeating-job.ts';
import { findClockDoubt } from './clock.ts';
import { recordTrustedClock } from './clock-store.ts';
import { type Cutoffs, cutoffsAt, keepsAll, type RetentionPolicy } from './policy.ts';
import { sweep } from './sweep.ts';

export type RetentionJobOptions = LeaderJobContext & {
  database: { url: string; pool: Pool };
  clock: Clock;
  logger: Logger;
  policy: RetentionPolicy;
  /** Called between two steps of a pass; default: 50 ms, which leaves most of the disk to others. */
  pause?: () => Promise<void>;
  /** Default: the database's own clock. */
  databaseClock?: DatabaseClock;
  /** Called in each pass. `doubted`: the pass deletes nothing, because it cannot trust the clock. */
  onClockDoubt?: (doubted: boolean) => void;
};

/** The delay after the start, so that recovery has the database to itself. */
const FIRST_MS = 60_000;
const DAILY_MS = DAY_MS;
/** The delay after which a standby checks whether it leads, and locked partitions are tried again. */
const AGAIN_MS = HOUR_MS;

/** Creates the partitions for the coming months and purges expired data, once a day, in the leading process. */
export function startRetentionJob(options: RetentionJobOptions): RepeatingJob {
  const { database, clock, alarm, logger, policy, leading } = options;
  const pauseUnless = async (closing: AbortSignal) => {
    await (options.pause?.() ?? delay(50, undefined, { signal: closing }));
    closing.throwIfAborted();
  };
  /** Returns whether the clock may be trusted for the deletions of the policy; without a policy nothing can be lost. */
  const trustsClock = async (now: number, cutoffs: Cutoffs): Promise<boolean> => {
    const harmless = keepsAll(cutoffs);
    const doubt = harmless
      ? null
      : await findClockDoubt(database.pool, now, options.databaseClock ?? readDatabaseClock);
    options.onClockDoubt?.(doubt !== null);
    if (doubt === null) await recordTrustedClock(database.pool, now, harmless);
    else logger.error({ doubt }, 'retention deletes nothing: it cannot trust the clock (docs/operations.md)');
    return doubt === null;
  };
  const late = 'retention failed; trying again in an hour';
  const timing = { alarm, leading, logger, firstMs: FIRST_MS, everyMs: AGAIN_MS, retryMs: AGAIN_MS, late };
  return startLeaderJob(timing, async closing => {
    const now = clock.now();
    await ensurePartitions(database.pool, clock, logger);
    const cutoffs = cutoffsAt(policy, now);
    if (!(await trustsClock(now, cutoffs))) return AGAIN_MS;
    if (keepsAll(cutoffs)) return DAILY_MS;
    const result = await sweep({
      url: database.url,
      logger,
      cutoffs,
      now,
      pause: () => pauseUnless(closing),
      signal: closing,
    });
    logger.info(result, 'retention');
    return result.busy || result.postponed.length > 0 ? AGAIN_MS : DAILY_MS;
  });
}
