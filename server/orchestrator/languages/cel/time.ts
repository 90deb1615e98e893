import { zoneOffsetMs } from '../../../platform/time-zones.ts';
import type { CelFunction } from './functions.ts';
import { CelError, type CelValue, Duration, Timestamp, typeName } from './values.ts';

/** The cost of a time zone: an Intl formatter takes a few microseconds, and 100 µs when it is created. */
const ZONE_UNITS = 100;

const DAY_MS = 86_400_000;

/**
 * Returns a method of timestamps, in UTC or in the time zone of its argument. With `ofDuration`, it is a method of
 * durations too.
 */
function clock(part: (date: Date) => number, ofDuration?: (ms: number) => number): CelFunction {
  return {
    arity: [1, 2],
    call: ([value, zone], budget) => {
      if (value instanceof Duration && ofDuration !== undefined) {
        if (zone !== undefined) throw new CelError('a duration has no time zone');
        return ofDuration(value.ms);
      }
      if (!(value instanceof Timestamp)) throw new CelError(`a timestamp expected, not ${typeName(value ?? null)}`);
      if (zone === undefined) return part(new Date(value.ms));
      budget.spend(ZONE_UNITS);
      return part(new Date(value.ms + offsetOf(zone, value.ms)));
    },
  };
}

function offsetOf(zone: CelValue, ms: number): number {
  const offset = typeof zone === 'string' ? zoneOffsetMs(zone, ms) : null;
  if (offset !== null) return offset;
  throw new CelError('a time zone is a name such as "Europe/Berlin" or an offset such as "+02:00"');
}

const dayOfYear = (date: Date) => Math.floor((date.getTime() - new Date(date).setUTCMonth(0, 1)) / DAY_MS);
/** Avoids -0, which JSON does not have. */
const whole = (value: number) => Math.trunc(value) || 0;

/** The methods of timestamps and durations (CEL specification, "List of Standard Definitions"). */
export const timeMethods: ReadonlyMap<string, CelFunction> = new Map<string, CelFunction>([
  ['getFullYear', clock(date => date.getUTCFullYear())],
  ['getMonth', clock(date => date.getUTCMonth())],
  ['getDate', clock(date => date.getUTCDate())],
  ['getDayOfMonth', clock(date => date.getUTCDate() - 1)],
  ['getDayOfYear', clock(dayOfYear)],
  ['getDayOfWeek', clock(date => date.getUTCDay())],
  [
    'getHours',
    clock(
      date => date.getUTCHours(),
      ms => whole(ms / 3_600_000),
    ),
  ],
  [
    'getMinutes',
    clock(
      date => date.getUTCMinutes(),
      ms => whole(ms / 60_000),
    ),
  ],
  [
    'getSeconds',
    clock(
      date => date.getUTCSeconds(),
      ms => whole(ms / 1000),
    ),
  ],
  [
    'getMilliseconds',
    clock(
      date => date.getUTCMilliseconds(),
      ms => whole(ms % 1000),
    ),
  ],
]);
