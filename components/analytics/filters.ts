import { isDay } from '../ui/calendar-day.ts';
import { isId } from '../ui/is-id.ts';
import { addDays, dayIn, startOfDay } from './zoned-days.ts';

export const periods = ['week', 'month', 'all', 'custom'] as const;
export type Period = (typeof periods)[number];
export const granularities = ['hour', 'day', 'week', 'month'] as const;
export type Granularity = (typeof granularities)[number];

/** The input of the nine operations, without the fields that only time series have. */
export type Range = {
  window?: 'week' | 'month' | 'all';
  from?: string;
  to?: string;
  time_zone: string;
  workflow_id?: string;
};
export type Filters = {
  period: Period;
  /** The first and the last day of a custom period, both included; empty if the period has no start or no end. */
  from: string;
  to: string;
  granularity: Granularity | undefined;
  range: Range;
};

/** An answer has at most 2,000 hours. */
const MAX_DAYS_IN_HOURS = 83;

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** Reads the filters from the URL in the form of the operations, and ignores malformed values. `zone`: the browser's. `now`: ms. */
export function readFilters(get: (key: string) => string, zone: string, now: number): Filters {
  const chosen = get('zone');
  const time_zone = chosen && isTimeZone(chosen) ? chosen : zone;
  const days = [get('from'), get('to')].map(day => (isDay(day) ? day : ''));
  const [first = '', last = ''] = days;
  // Days in the wrong order are swapped.
  const [from, to] = first && last && last < first ? [last, first] : [first, last];
  const custom = from !== '' || to !== '';
  const period = custom ? 'custom' : (periods.find(each => each === get('period')) ?? 'month');
  const workflow = get('workflow_id');
  const granularity = granularities.find(each => each === get('granularity'));
  return {
    period,
    from,
    to,
    granularity:
      granularity === 'hour' && !hoursFit(period, from, to || dayIn(now, time_zone)) ? undefined : granularity,
    range: {
      ...(period === 'custom' ? {} : { window: period }),
      ...(from ? { from: startOfDay(from, time_zone) } : {}),
      ...(to ? { to: startOfDay(addDays(to, 1), time_zone) } : {}),
      time_zone,
      ...(isId(workflow) ? { workflow_id: workflow } : {}),
    },
  };
}

/** Returns true if a period is short enough to be shown by the hour. */
export function hoursFit(period: Period, from: string, to: string): boolean {
  if (period !== 'custom') return period !== 'all';
  return from !== '' && to <= addDays(from, MAX_DAYS_IN_HOURS - 1);
}
