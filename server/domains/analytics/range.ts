import type { z } from 'zod';
import { DAY_MS, HOUR_MS, QUARTER_HOUR_MS } from '../../platform/clock.ts';
import { invalid } from '../../platform/errors.ts';
import { bucketOf, QUARTER } from './buckets.ts';
import type { AnalyticsInput, granularities } from './schemas.ts';
import { createZone, type Zone } from './time-zone.ts';

/** `from` inclusive, `to` exclusive, both on a quarter of an hour; ms since the epoch. */
export type Range = { from: number; to: number; zone: Zone };
export type Granularity = (typeof granularities)[number];

/**
 * The earliest allowed instant: no run can be older, and before 2000 offsets of zones were not always multiples of a
 * quarter of an hour.
 */
const EARLIEST = Date.UTC(2000, 0, 1);
const DAYS = { week: 7, month: 30 } as const;
const MAX_POINTS = 2_000;

/**
 * Returns the requested range. A window ends with the current quarter and starts with a day of the zone: the last 7 or
 * 30 days with today, or the first day with figures (`earliest`; null = nothing yet). Instants within a quarter of an
 * hour are rounded outward: figures are rolled up by quarters, and other sources cannot split one either, because rows of
 * usage hold a commit's attempts under one time, and retention deletes them. The answer names the range that it counts.
 * Throws AppError 422 for an empty range.
 */
export function rangeOf(input: z.output<typeof AnalyticsInput>, now: number, earliest: number | null): Range {
  const zone = createZone(input.time_zone);
  const to = input.to === undefined ? bucketOf(QUARTER, now) + QUARTER_HOUR_MS : endOf(Date.parse(input.to));
  const from = input.from === undefined ? undefined : Math.max(EARLIEST, bucketOf(QUARTER, Date.parse(input.from)));
  if (to <= (from ?? EARLIEST)) {
    const path = input.to === undefined ? 'from' : 'to';
    const message = path === 'from' ? 'must be before now' : 'must be after from, and after the year 1999';
    throw invalid('The query is not valid.', [{ path, message }], 'validation_error');
  }
  if (from !== undefined) return { from, to, zone };
  const whole = input.window === 'all' || input.to !== undefined;
  const last = to - QUARTER_HOUR_MS;
  const start = whole
    ? zone.startOf('day', Math.min(earliest ?? last, last))
    : zone.dayFrom(last, 1 - DAYS[input.window === 'week' ? 'week' : 'month']);
  return { from: start, to, zone };
}

/** Returns the first boundary of quarters that is not before the instant. */
const endOf = (at: number) => bucketOf(QUARTER, at + QUARTER_HOUR_MS - 1);

/** The minimum length of each granularity, except around a change of clocks. */
const lengths: readonly (readonly [Granularity, number])[] = [
  ['hour', HOUR_MS],
  ['day', DAY_MS],
  ['week', 7 * DAY_MS],
  ['month', 28 * DAY_MS],
];

/**
 * Returns the default granularity: hours up to three days, days up to three months, weeks up to two years, otherwise months.
 */
export function defaultGranularity({ from, to }: Pick<Range, 'from' | 'to'>): Granularity {
  const days = (to - from) / DAY_MS;
  return days <= 3 ? 'hour' : days <= 92 ? 'day' : days <= 731 ? 'week' : 'month';
}

/**
 * Returns the start of each point of a series; the first may be before the range. Throws AppError 422 for more than 2,000
 * points, with the granularity that would fit.
 */
export function pointsOf({ from, to, zone }: Range, granularity: Granularity): number[] {
  const length = lengths.find(([name]) => name === granularity)?.[1] ?? DAY_MS;
  if ((to - from) / length > MAX_POINTS) throw tooMany({ from, to });
  const points = [zone.startOf(granularity, from)];
  for (let at = zone.next(granularity, from); at < to; at = zone.next(granularity, at)) points.push(at);
  if (points.length > MAX_POINTS) throw tooMany({ from, to });
  return points;
}

function tooMany({ from, to }: Pick<Range, 'from' | 'to'>) {
  // The margin of 2 is for the first and the last point, which may be partial.
  const coarser = lengths.find(([, length]) => (to - from) / length <= MAX_POINTS - 2)?.[0];
  const advice = coarser === undefined ? 'ask for a shorter time' : `ask for granularity ${coarser}, or a shorter time`;
  const message = `would give more than ${MAX_POINTS.toLocaleString('en')} points: ${advice}`;
  return invalid('The query is not valid.', [{ path: 'granularity', message }], 'validation_error');
}
