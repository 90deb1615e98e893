import type { WorkflowKind } from '../../operation/workflow-kinds.ts';
import { DAY_MS, HOUR_MS, QUARTER_HOUR_MS } from '../../platform/clock.ts';

/**
 * The grains of rollups, in UTC: a quarter of an hour, an hour, a day, a month (migration
 * 0010). Coarser ones are higher.
 */
export const QUARTER = 0;
export const HOUR = 1;
export const DAY = 2;
export const MONTH = 3;
export const grains = [QUARTER, HOUR, DAY, MONTH] as const;
export type Grain = (typeof grains)[number];

/** Consecutive buckets of one grain. `to` is exclusive; both are boundaries of buckets, in ms since the epoch. */
export type Segment = { grain: Grain; from: number; to: number };

/** The ids of the rollups that combine all of a project's workflows of a kind. */
export const WHOLE_PROJECT: Record<WorkflowKind, string> = {
  workflow: '00000000-0000-0000-0000-000000000000',
  agent: '00000000-0000-0000-0000-000000000001',
  autopilot: '00000000-0000-0000-0000-000000000002',
  trial: '00000000-0000-0000-0000-000000000003',
  extraction: '00000000-0000-0000-0000-000000000004',
};

/** Returns the id of the rollups that combine all of a project's workflows of the kind. */
export const wholeProject = (kind: WorkflowKind): string => WHOLE_PROJECT[kind];

/** Returns the start of the bucket that contains the instant. */
export function bucketOf(grain: Grain, at: number): number {
  switch (grain) {
    case QUARTER:
      return at - modulo(at, QUARTER_HOUR_MS);
    case HOUR:
      return at - modulo(at, HOUR_MS);
    case DAY:
      return at - modulo(at, DAY_MS);
    case MONTH: {
      const date = new Date(at);
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
    }
  }
}

const modulo = (at: number, by: number) => ((at % by) + by) % by;

/** Returns the start of the next bucket. */
function nextBucket(grain: Grain, at: number): number {
  // 32 days after the start of a month, that month has ended and the next one has not.
  const later = { [QUARTER]: QUARTER_HOUR_MS, [HOUR]: HOUR_MS, [DAY]: DAY_MS, [MONTH]: 32 * DAY_MS }[grain];
  return bucketOf(grain, bucketOf(grain, at) + later);
}

/**
 * Returns the fewest buckets that make up a range between two quarters of an hour, in order of time: months inside,
 * around them days, then hours, then quarters.
 */
export function segmentsOf(from: number, to: number, grain: Grain = MONTH): Segment[] {
  if (from >= to) return [];
  if (grain === QUARTER) return [{ grain, from, to }];
  const finer = finerThan(grain);
  const first = bucketOf(grain, from) === from ? from : nextBucket(grain, from);
  const last = bucketOf(grain, to);
  if (first >= last) return segmentsOf(from, to, finer);
  return [...segmentsOf(from, first, finer), { grain, from: first, to: last }, ...segmentsOf(last, to, finer)];
}

function finerThan(grain: Exclude<Grain, 0>): Grain {
  switch (grain) {
    case HOUR:
      return QUARTER;
    case DAY:
      return HOUR;
    case MONTH:
      return DAY;
  }
}

/** Returns the segments of consecutive ranges, joining adjacent ones of the same grain. */
export function joinedSegments(starts: readonly number[], end: number): Segment[] {
  const joined: Segment[] = [];
  starts.forEach((start, index) => {
    for (const segment of segmentsOf(start, starts[index + 1] ?? end)) {
      const last = joined.at(-1);
      if (last?.grain === segment.grain && last.to === segment.from) last.to = segment.to;
      else joined.push(segment);
    }
  });
  return joined;
}
