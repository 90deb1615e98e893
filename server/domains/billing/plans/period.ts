import type { PlanRow } from '../../../operation/plan.ts';
import { DAY_MS } from '../../../platform/clock.ts';

/**
 * Returns when the `count`-th period after `anchor` begins (count 0: at the anchor), in ms since the epoch.
 * Months and years are calendar months and years in UTC, and keep the anchor's day and time; a month without
 * that day uses its last one (31 January, 28 February, 31 March). Counting from the anchor, and not from the
 * previous period, keeps the day.
 */
export function periodStart(anchor: number, plan: Pick<PlanRow, 'interval' | 'intervalCount'>, count: number): number {
  const steps = plan.intervalCount * count;
  switch (plan.interval) {
    case 'day':
      return anchor + steps * DAY_MS;
    case 'week':
      return anchor + steps * 7 * DAY_MS;
    case 'month':
      return addMonths(anchor, steps);
    case 'year':
      return addMonths(anchor, steps * 12);
  }
}

/** Returns the first start of a period after `at`, which is also the end of the period that contains `at`. */
export function nextPeriodStart(anchor: number, plan: Pick<PlanRow, 'interval' | 'intervalCount'>, at: number): number {
  // A guess that is at most one too low, because it assumes the longest possible period.
  const longest = periodLength(plan);
  let count = Math.max(1, Math.floor((at - anchor) / longest));
  while (periodStart(anchor, plan, count) <= at) count += 1;
  return periodStart(anchor, plan, count);
}

function periodLength({ interval, intervalCount }: Pick<PlanRow, 'interval' | 'intervalCount'>): number {
  const days = { day: 1, week: 7, month: 31, year: 366 }[interval];
  return days * intervalCount * DAY_MS;
}

function addMonths(anchor: number, months: number): number {
  const date = new Date(anchor);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, last));
  return date.getTime();
}
