import { describe, expect, test } from 'vitest';
import { addDays, dayIn, startOfDay } from './zoned-days.ts';

describe('a day begins where its zone says', () => {
  test.each([
    ['2026-03-09', 'UTC', '2026-03-09T00:00:00.000Z'],
    ['2026-03-09', 'Europe/Berlin', '2026-03-08T23:00:00.000Z'],
    ['2026-03-09', 'Asia/Kathmandu', '2026-03-08T18:15:00.000Z'],
    ['2026-03-09', 'Pacific/Kiritimati', '2026-03-08T10:00:00.000Z'],
    // The clock changes on the day itself.
    ['2026-03-29', 'Europe/Berlin', '2026-03-28T23:00:00.000Z'],
    ['2026-10-25', 'Europe/Berlin', '2026-10-24T22:00:00.000Z'],
    ['2026-10-26', 'Europe/Berlin', '2026-10-25T23:00:00.000Z'],
    // No midnight: 00:00 became 01:00.
    ['2018-11-04', 'America/Sao_Paulo', '2018-11-04T03:00:00.000Z'],
    // Two midnights nearly: 00:00 became 23:00 of the day before.
    ['2018-02-18', 'America/Sao_Paulo', '2018-02-18T03:00:00.000Z'],
  ])('%s in %s', (day, zone, instant) => {
    expect(startOfDay(day, zone)).toBe(instant);
    expect(dayIn(Date.parse(instant), zone)).toBe(day);
    expect(dayIn(Date.parse(instant) - 1000, zone)).toBe(addDays(day, -1));
  });
});

test('a day that a zone left out begins where the next one does', () => {
  expect(startOfDay('2011-12-30', 'Pacific/Apia')).toBe('2011-12-30T10:00:00.000Z');
  expect(startOfDay('2011-12-31', 'Pacific/Apia')).toBe('2011-12-30T10:00:00.000Z');
});

test('days are counted over months and years', () => {
  expect(addDays('2026-12-31', 1)).toBe('2027-01-01');
  expect(addDays('2028-03-01', -1)).toBe('2028-02-29');
});
