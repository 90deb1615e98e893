import { setBounded } from './bounded-map.ts';

const formats = new Map<string, Intl.DateTimeFormat | null>();
/** More than a process uses; the tz database has 600 names. */
const MAX_FORMATS = 200;
const MAX_NAME_LENGTH = 64;
const MINUTE_MS = 60_000;

/**
 * Returns how far a time zone is ahead of UTC at an instant, in ms; null for a name that is no zone. A zone is a name of the tz
 * database, such as `Europe/Berlin`, or a fixed offset, such as `+05:30`; CEL writes `05:30` too.
 */
export function zoneOffsetMs(zone: string, ms: number): number | null {
  if (zone === 'UTC' || zone === 'Z') return 0;
  const fixed = /^([-+]?)(\d\d):([0-5]\d)$/.exec(zone);
  if (fixed) {
    const minutes = Number(fixed[2]) * 60 + Number(fixed[3]);
    return minutes < 24 * 60 ? (fixed[1] === '-' ? -minutes : minutes) * MINUTE_MS : null;
  }
  const format = zone.length > MAX_NAME_LENGTH ? null : formatOf(zone);
  return format === null ? null : localMs(format, ms) - Math.floor(ms / 1000) * 1000;
}

function formatOf(zone: string): Intl.DateTimeFormat | null {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = createFormat(zone);
  setBounded(formats, zone, made, MAX_FORMATS);
  return made;
}

function createFormat(timeZone: string): Intl.DateTimeFormat | null {
  // Intl takes `+5` and the like as well.
  if (!/^[A-Za-z]/.test(timeZone)) return null;
  const two = '2-digit';
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'iso8601',
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: two,
      day: two,
      hour: two,
      minute: two,
      second: two,
    });
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Returns the local time of an instant as ms, as if the local time were UTC. */
function localMs(format: Intl.DateTimeFormat, ms: number): number {
  const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, value]));
  const numberOf = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type));
  const year = parts.get('era')?.startsWith('B') ? 1 - numberOf('year') : numberOf('year');
  // Date.UTC reads the years 0 to 99 as 1900 to 1999.
  return (
    new Date(0).setUTCFullYear(year, numberOf('month') - 1, numberOf('day')) +
    ((numberOf('hour') * 60 + numberOf('minute')) * 60 + numberOf('second')) * 1000
  );
}
