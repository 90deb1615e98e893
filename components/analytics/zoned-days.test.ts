import { describe, expect, test } from 'vitest';
import { addDays, dayIn, startOfDay } from './zoned-days.ts';

describe('a day starts at midnight in its zone', () => {
  test.each([
    ['2026-03-09', 'UTC', '2026-03-09T00:00:00.000Z'],
    ['2026-03-09', 'Europe/Berlin', '2026-03-08T23:00:00.000Z'],
    ['2026-03-09', 'Asia/Kathmandu', '2026-03-08T18:15:00.000Z'],
    ['2026-03-09', 'Pacific/Kiritimati', '2026-03-08T10:00:00.000Z'],
    // The clock changes on this day.
    ['2026-03-29', 'Europe/Berlin', '2026-03-28T23:00:00.000Z'],
    ['2026-10-25', 'Europe/Berlin', '2026-10-24T22:00:00.000Z'],
    ['2026-10-26', 'Europe/Berlin', '2026-10-25T23:00:00.000Z'],
    // No midnight: the clock jumped from 00:00 to 01:00.
    ['2018-11-04', 'America/Sao_Paulo', '2018-11-04T03:00:00.000Z'],
    // The clock jumped from 00:00 back to 23:00 of the day before.
    ['2018-02-18', 'America/Sao_Paulo', '2018-02-18T03:00:00.000Z'],
  ])('%s in %s', (day, zone, instant) => {
    expect(startOfDay(day, zone)).toBe(instant);
    expect(dayIn(Date.parse(instant), zone)).toBe(day);
    expect(dayIn(Date.parse(instant) - 1000, zone)).toBe(addDays(day, -1));
  });
});

test('a skipped day starts at the same instant as the next day', () => {
  expect(startOfDay('2011-12-30', 'Pacific/Apia')).toBe('2011-12-30T10:00:00.000Z');
  expect(startOfDay('2011-12-31', 'Pacific/Apia')).toBe('2011-12-30T10:00:00.000Z');
});

test('adding days crosses months and years', () => {
  expect(addDays('2026-12-31', 1)).toBe('2027-01-01');
  expect(addDays('2028-03-01', -1)).toBe('2028-02-29');
});
