import fc from 'fast-check';
import { expect, test } from 'vitest';
import { amountIn, instantInWords, readAmount, UNITS, unitOf } from './wait-length.ts';

test('a duration is shown in the largest unit that fits', () => {
  expect([0, 1, 90, 120, 7_200, 172_800, 1.5].map(unitOf)).toEqual([
    'seconds',
    'seconds',
    'seconds',
    'minutes',
    'hours',
    'days',
    'seconds',
  ]);
  fc.assert(
    fc.property(fc.nat(31_622_400), fc.constantFrom(...UNITS), (seconds, unit) => {
      expect(readAmount(String(amountIn(seconds, unitOf(seconds))), unitOf(seconds))).toBe(seconds);
      expect(readAmount(String(seconds), unit)).toBe(amountIn(seconds, 'seconds') * amountIn(1, unit) ** -1);
    }),
  );
});

test('an invalid text is not a duration', () => {
  for (const none of ['', 'x', '-1', '1e3', '1,5', '{{input.s}}', '.']) expect(readAmount(none, 'seconds')).toBeNull();
  expect(readAmount('1.5', 'minutes')).toBe(90);
  expect(readAmount('0.1', 'seconds')).toBe(0.1);
});

test('an instant is shown in UTC and in local time', () => {
  expect(instantInWords('2027-01-31T09:00:00Z', 'Europe/Berlin')).toBe(
    'Sunday, 31 January 2027 at 10:00 your time (Sunday, 31 January 2027 at 09:00 UTC)',
  );
  expect(instantInWords('2027-01-31T09:00:00+00:00', 'UTC')).toBe('Sunday, 31 January 2027 at 09:00 UTC');
  for (const none of ['', 'tomorrow', '2027-01-31', '2027-13-31T09:00:00Z', '{{input.at}}'])
    expect(instantInWords(none, 'UTC')).toBeNull();
});
