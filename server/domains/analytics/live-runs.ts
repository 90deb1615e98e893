import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { isoTimestamp } from '../../platform/clock.ts';
import type { LiveRuns, LiveRunsInput } from './schemas.ts';
import { inSnapshot, scopeOf } from './snapshot.ts';
import { countLiveRuns } from './store.ts';

/** GET /v1/analytics/live-runs: the runs that have not ended, as of now. */
export async function liveRuns(ctx: Context, input: z.output<typeof LiveRunsInput>): Promise<z.input<typeof LiveRuns>> {
  const asOf = ctx.services.clock.now();
  const { running, blocked, paused } = await inSnapshot(ctx, db => countLiveRuns(db, scopeOf(ctx, input)));
  return { as_of: isoTimestamp(asOf), total: running + paused, running, blocked, paused };
}
