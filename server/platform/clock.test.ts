import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isoTimestamp } from './clock.ts';

const latest = Date.parse('9999-12-31T23:59:59.999Z');
const earliest = Date.parse('0000-01-01T00:00:00.000Z');
const LAST_INSTANT_MS = 8_640_000_000_000_000;

test('isoTimestamp equals Date.toISOString, independent of earlier calls', () => {
  const time = fc.oneof(
    fc.integer({ min: earliest, max: latest }),
    fc.integer({ min: 1_763_712_000_000, max: 1_763_712_003_000 }),
    fc.double({ min: -5_000, max: 5_000, noNaN: true }),
  );
  fc.assert(
    fc.property(fc.array(time), times => {
      expect(times.map(isoTimestamp)).toEqual(times.map(ms => new Date(ms).toISOString()));
    }),
    { numRuns: 2_000 },
  );
  for (const ms of [0, -1, -1000, 999, 1000, earliest, latest])
    expect(isoTimestamp(ms)).toBe(new Date(ms).toISOString());
});

test('a time outside of the four-digit years becomes the nearest representable one, and does not affect later timestamps', () => {
  const now = isoTimestamp(1_763_712_000_007);
  for (const ms of [latest + 1, LAST_INSTANT_MS, LAST_INSTANT_MS + 1, Number.POSITIVE_INFINITY, Number.NaN])
    expect(isoTimestamp(ms)).toBe('9999-12-31T23:59:59.999Z');
  for (const ms of [earliest - 1, -LAST_INSTANT_MS, Number.NEGATIVE_INFINITY])
    expect(isoTimestamp(ms)).toBe('0000-01-01T00:00:00.000Z');
  expect(isoTimestamp(1_763_712_000_007)).toBe(now);
});
