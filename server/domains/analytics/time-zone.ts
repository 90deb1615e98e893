import { DAY_MS, HOUR_MS, QUARTER_HOUR_MS } from '../../platform/clock.ts';

/**
 * Where hours, days, weeks and months begin in a zone of the IANA database, as the runtime's own Intl knows it: no table of
 * our own. Every boundary is on a quarter of an hour, as all offsets since 2000 are.
 */
export const units = ['hour', 'day', 'week', 'month'] as const;
export type Unit = (typeof units)[number];

export type Zone = {
  readonly name: string;
  /** Where the unit that holds the instant begins. All instants in ms since the epoch. */
  startOf(unit: Unit, at: number): number;
  /** Where the next one begins. */
  next(unit: Unit, at: number): number;
  /** Where the day begins that is `days` (of the calendar) away from the instant's. */
  dayFrom(at: number, days: number): number;
};

/** Local time as if it were UTC: ms since the epoch of the same reading of the clock in UTC. */
type Reading = number;

const dayOf = (reading: Reading): Reading => Math.floor(reading / DAY_MS) * DAY_MS;
const hourOf = (reading: Reading): number => Math.floor(reading / HOUR_MS);
const mondayOf = (day: Reading): Reading => day - ((new Date(day).getUTCDay() + 6) % 7) * DAY_MS;
const monthOf = (day: Reading, later = 0): Reading => {
  const date = new Date(day);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later, 1);
};

/** What the clocks of the zone show at an instant. */
function clockOf(name: string): (at: number) => Reading {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    calendar: 'iso8601',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const read = (at: number): Reading => {
    const part: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
    for (const { type, value } of format.formatToParts(at)) part[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
    return Date.UTC(year, month - 1, day, hour, minute, second) + (at - Math.floor(at / 1000) * 1000);
  };
  // Formatting takes microseconds and a series asks for thousands: an offset that is the same at both ends of a UTC day
  // holds all through it, since nobody changes the clocks twice within one.
  const offsets = new Map<number, number>();
  const offsetOn = (day: number): number => {
    const known = offsets.get(day);
    if (known !== undefined) return known;
    const offset = read(day * DAY_MS) - day * DAY_MS;
    offsets.set(day, offset);
    return offset;
  };
  return at => {
    const day = Math.floor(at / DAY_MS);
    const offset = offsetOn(day);
    return offset === offsetOn(day + 1) ? at + offset : read(at);
  };
}

/** RangeError for a name that the runtime does not know. */
export function createZone(name: string): Zone {
  const clock = clockOf(name);

  /** The first instant of a day of the calendar: midnight, the first of two, or where the clocks jump over it the jump. */
  const beginning = (day: Reading): number => {
    const candidates = [day - DAY_MS, day + DAY_MS].map(near => day - (clock(near) - near));
    const midnights = candidates.filter(at => clock(at) === day);
    if (midnights.length > 0) return Math.min(...midnights);
    let at = Math.min(...candidates) - HOUR_MS;
    while (clock(at) < day) at += QUARTER_HOUR_MS;
    return at;
  };
  /** The day of an instant. Where clocks went back over midnight, the hour that is repeated belongs to the day already begun. */
  const dayAt = (at: number): Reading => {
    const day = dayOf(clock(at));
    return beginning(day + DAY_MS) <= at ? day + DAY_MS : day;
  };
  const beginsHour = (at: number): boolean => {
    const reading = clock(at);
    return reading % HOUR_MS === 0 || hourOf(reading) !== hourOf(clock(at - QUARTER_HOUR_MS));
  };
  /** The first beginning of the days after `at`: a day that a zone left out begins with the one after it. */
  const after = (at: number, day: Reading, following: (day: Reading) => Reading): number => {
    let next = following(day);
    while (beginning(next) <= at) next = following(next);
    return beginning(next);
  };

  return {
    name,
    startOf(unit, at) {
      switch (unit) {
        case 'hour': {
          let start = Math.floor(at / QUARTER_HOUR_MS) * QUARTER_HOUR_MS;
          while (!beginsHour(start)) start -= QUARTER_HOUR_MS;
          return start;
        }
        case 'day':
          return beginning(dayAt(at));
        case 'week':
          return beginning(mondayOf(dayAt(at)));
        case 'month':
          return beginning(monthOf(dayAt(at)));
      }
    },
    next(unit, at) {
      switch (unit) {
        case 'hour': {
          let start = Math.floor(at / QUARTER_HOUR_MS) * QUARTER_HOUR_MS + QUARTER_HOUR_MS;
          while (!beginsHour(start)) start += QUARTER_HOUR_MS;
          return start;
        }
        case 'day':
          return after(at, dayAt(at), day => day + DAY_MS);
        case 'week':
          return after(at, mondayOf(dayAt(at)), day => day + 7 * DAY_MS);
        case 'month':
          return after(at, monthOf(dayAt(at)), day => monthOf(day, 1));
      }
    },
    dayFrom: (at, days) => beginning(dayAt(at) + days * DAY_MS),
  };
}
