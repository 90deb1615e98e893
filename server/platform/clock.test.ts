import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isoTimestamp } from './clock.ts';

const furthest = 8_640_000_000_000_000;

test('a timestamp is what Date makes of it, whatever was told before', () => {
  const time = fc.oneof(
    fc.integer({ min: -furthest, max: furthest }),
    fc.integer({ min: 1_763_712_000_000, max: 1_763_712_003_000 }),
    fc.double({ min: -5_000, max: 5_000, noNaN: true }),
  );
  fc.assert(
    fc.property(fc.array(time), times => {
      expect(times.map(isoTimestamp)).toEqual(times.map(ms => new Date(ms).toISOString()));
    }),
    { numRuns: 2_000 },
  );
  for (const ms of [0, -1, -1000, 999, 1000, furthest, -furthest, 253_402_300_800_000])
    expect(isoTimestamp(ms)).toBe(new Date(ms).toISOString());
});

test('what is no time is refused, and spoils nothing', () => {
  const now = isoTimestamp(1_763_712_000_007);
  for (const ms of [Number.NaN, Number.POSITIVE_INFINITY, furthest + 1000])
    expect(() => isoTimestamp(ms)).toThrow(RangeError);
  expect(isoTimestamp(1_763_712_000_007)).toBe(now);
});
