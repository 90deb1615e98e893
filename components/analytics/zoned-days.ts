import { DAY_MS } from '@/server/platform/clock.ts';

// The server uses Temporal for this; in the browser, its polyfill has 21 KB compressed, and this file 0.6 KB.
const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns the wall-clock time of the zone at an instant, in ms, as if it were UTC. */
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

/** Returns the day in the zone at an instant, as "2026-03-09". */
export function dayIn(instant: number, zone: string): string {
  return new Date(wallClock(instant, zone)).toISOString().slice(0, 10);
}

/** Returns the day that is `days` days later. */
export function addDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00.000Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/**
 * Returns the instant at which a day starts in the zone: midnight, or the first instant of the day if a clock change skips midnight. The
 * zone's offset is then that of the day before or that of the day after.
 */
export function startOfDay(day: string, zone: string): string {
  const midnight = Date.parse(`${day}T00:00:00.000Z`);
  const candidates = [midnight - DAY_MS, midnight + DAY_MS].map(near => midnight - (wallClock(near, zone) - near));
  const starts = candidates.filter(instant => dayIn(instant, zone) === day);
  // No candidate: the zone skipped the whole day, as Samoa did when it crossed the date line.
  const start = starts.length > 0 ? Math.min(...starts) : Math.max(...candidates);
  return new Date(start).toISOString();
}
