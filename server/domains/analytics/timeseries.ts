import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { isoTimestamp } from '../../platform/clock.ts';
import { perQuantity } from './action-columns.ts';
import { joinedSegments } from './buckets.ts';
import { microcreditsOf, quantityOf } from './credits-consumed.ts';
import { defaultGranularity, pointsOf } from './range.ts';
import type { RunsTimeseries, TimeseriesInput, UsageTimeseries } from './schemas.ts';
import { queryRollups } from './snapshot.ts';
import { sumSeries, type Totals } from './store.ts';

/** GET /v1/analytics/runs-timeseries. Throws AppError 422 (more than 2,000 points), 503. */
export function runsTimeseries(
  ctx: Context,
  input: z.output<typeof TimeseriesInput>,
): Promise<z.input<typeof RunsTimeseries>> {
  return series(ctx, input, totals => ({
    started: totals.runs_started ?? 0,
    completed: totals.runs_completed ?? 0,
    failed: totals.runs_failed ?? 0,
    stopped: totals.runs_stopped ?? 0,
  }));
}

/** GET /v1/analytics/usage-timeseries. Throws AppError 422 (more than 2,000 points), 503. */
export function usageTimeseries(
  ctx: Context,
  input: z.output<typeof TimeseriesInput>,
): Promise<z.input<typeof UsageTimeseries>> {
  return series(ctx, input, totals => ({
    ...perQuantity(action => quantityOf(totals, action)),
    microcredits: microcreditsOf(totals),
  }));
}

/** Returns a point for every hour, day, week or month of the range, with zeros where nothing happened. */
function series<T extends object>(
  ctx: Context,
  input: z.output<typeof TimeseriesInput>,
  toPoint: (totals: Totals) => T,
) {
  return queryRollups(ctx, input, async ({ db, scope, range }) => {
    const granularity = input.granularity ?? defaultGranularity(range);
    const starts = pointsOf(range, granularity);
    // The first point may begin before the range.
    const counted = starts.map(at => Math.max(at, range.from));
    const sums = await sumSeries(db, scope, joinedSegments(counted, range.to), counted);
    return {
      granularity,
      points: starts.map((at, index) => ({ at: isoTimestamp(at), ...toPoint(sums.get(index) ?? {}) })),
    };
  });
}
