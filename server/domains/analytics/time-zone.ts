import { Temporal } from 'temporal-polyfill';
import { MINUTE_MS, QUARTER_HOUR_MS } from '../../platform/clock.ts';

/**
 * Computes where hours, days, weeks and months begin in a zone of the IANA database. Every boundary is on a quarter of
 * an hour, because all offsets since 2000 are.
 */
export const units = ['hour', 'day', 'week', 'month'] as const;
export type Unit = (typeof units)[number];

export type Zone = {
  readonly name: string;
  /** Returns the start of the unit that contains the instant. All instants in ms since the epoch. */
  startOf(unit: Unit, at: number): number;
  /** Returns the start of the next unit. */
  next(unit: Unit, at: number): number;
  /** Returns the start of the day that is `days` calendar days after that of the instant. */
  dayFrom(at: number, days: number): number;
};

type Day = Temporal.PlainDate;

const firstDayOf = (unit: Exclude<Unit, 'hour'>, day: Day): Day => {
  switch (unit) {
    case 'day':
      return day;
    case 'week':
      return day.subtract({ days: day.dayOfWeek - 1 });
    case 'month':
      return day.with({ day: 1 });
  }
};

/** Returns the zone of that name. Throws a RangeError for a name that the runtime does not know. */
export function createZone(name: string): Zone {
  const clock = (at: number) => Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(name);
  clock(0);
  /**
   * Returns the first instant of a day: midnight, the first of two midnights, or the end of the gap if the clocks skip
   * midnight.
   */
  const beginning = (day: Day): number => day.toZonedDateTime(name).epochMilliseconds;
  /**
   * Returns the day of an instant. If clocks go back over midnight, the repeated hour belongs to the day that has already
   * begun.
   */
  const dayAt = (at: number): Day => {
    const day = clock(at).toPlainDate();
    const next = day.add({ days: 1 });
    return beginning(next) <= at ? next : day;
  };
  const beginsHour = (at: number): boolean => {
    const { minute, hour } = clock(at);
    return minute === 0 || hour !== clock(at - QUARTER_HOUR_MS).hour;
  };
  const nextHour = (at: number): number => {
    const quarter = Math.floor(at / QUARTER_HOUR_MS) * QUARTER_HOUR_MS;
    const now = clock(quarter);
    const hour = quarter + (60 - now.minute) * MINUTE_MS;
    // Usually the clocks do not change within the hour; a series asks for thousands of hours.
    if (clock(hour).offsetNanoseconds === now.offsetNanoseconds) return hour;
    let start = quarter + QUARTER_HOUR_MS;
    while (!beginsHour(start)) start += QUARTER_HOUR_MS;
    return start;
  };

  return {
    name,
    startOf(unit, at) {
      if (unit !== 'hour') return beginning(firstDayOf(unit, dayAt(at)));
      let start = Math.floor(at / QUARTER_HOUR_MS) * QUARTER_HOUR_MS;
      while (!beginsHour(start)) start -= QUARTER_HOUR_MS;
      return start;
    },
    next(unit, at) {
      if (unit === 'hour') return nextHour(at);
      let day = firstDayOf(unit, dayAt(at));
      // A day that a zone skipped begins with the one after it.
      do day = day.add({ [`${unit}s`]: 1 });
      while (beginning(day) <= at);
      return beginning(day);
    },
    dayFrom: (at, days) => beginning(dayAt(at).add({ days })),
  };
}
