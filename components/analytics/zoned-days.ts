import { DAY_MS } from '@/server/platform/clock.ts';

// Temporal does the same on the server; in the browser its polyfill weighs 21 KB compressed, and this file 0.6 KB.
const formats = new Map<string, Intl.DateTimeFormat>();

/** The clock of the zone at an instant, as if it were UTC, in ms. */
function wallClock(instant: number, zone: string): number {
  let format = formats.get(zone);
  if (!format) {
    const two = '2-digit';
    format = new Intl.DateTimeFormat('en', {
      timeZone: zone,
      hourCycle: 'h23',
      ...{ year: 'numeric', month: two, day: two, hour: two, minute: two, second: two },
    });
    formats.set(zone, format);
  }
  const parts = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** The day that it is in the zone, as "2026-03-09". */
export function dayIn(instant: number, zone: string): string {
  return new Date(wallClock(instant, zone)).toISOString().slice(0, 10);
}

/** The day so many days on. */
export function addDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00.000Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/**
 * The instant at which a day begins in the zone: midnight, or the first moment after a clock change that has none. The
 * offsets of the day before and the day after are the two that it can have.
 */
export function startOfDay(day: string, zone: string): string {
  const midnight = Date.parse(`${day}T00:00:00.000Z`);
  const candidates = [midnight - DAY_MS, midnight + DAY_MS].map(near => midnight - (wallClock(near, zone) - near));
  const starts = candidates.filter(instant => dayIn(instant, zone) === day);
  // None: the zone left the whole day out, as Samoa did when it crossed the date line.
  const start = starts.length > 0 ? Math.min(...starts) : Math.max(...candidates);
  return new Date(start).toISOString();
}
