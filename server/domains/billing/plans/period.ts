import type { PlanRow } from '../../../contract/plan.ts';
import { DAY_MS } from '../../../platform/clock.ts';

/**
 * When the `count`-th period after `anchor` begins (count 0: at the anchor), ms since the epoch. Months and years are those
 * of the calendar in UTC and keep the anchor's day and time: where a month lacks the day, its last one (31 January,
 * 28 February, 31 March). Counting from the anchor, never from the previous period, keeps the day.
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

/** The first beginning of a period after `at`: where the period that contains `at` ends. */
export function nextPeriodStart(anchor: number, plan: Pick<PlanRow, 'interval' | 'intervalCount'>, at: number): number {
  // A guess that is at most one too small: a period is never longer than its longest.
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
