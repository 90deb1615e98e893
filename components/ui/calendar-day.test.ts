import { expect, test } from 'vitest';
import { dayAfter, isDay, monthAfter, monthGrid, today } from './calendar-day.ts';

test('dayAfter crosses months and years', () => {
  expect(dayAfter('2026-12-31', 1)).toBe('2027-01-01');
  expect(dayAfter('2028-03-01', -1)).toBe('2028-02-29');
});

test('monthAfter returns the last day of a shorter month', () => {
  expect(monthAfter('2026-01-31', 1)).toBe('2026-02-28');
  expect(monthAfter('2026-01-15', -1)).toBe('2025-12-15');
  expect(monthAfter('2026-03-31', -1)).toBe('2026-02-28');
});

test('a month is drawn as six weeks that start on Monday', () => {
  const grid = monthGrid('2026-11-27');
  expect(grid).toHaveLength(6);
  expect(grid[0]).toEqual([
    '2026-10-26',
    '2026-10-27',
    '2026-10-28',
    '2026-10-29',
    '2026-10-30',
    '2026-10-31',
    '2026-11-01',
  ]);
  expect(grid.flat().filter(day => day.startsWith('2026-11'))).toHaveLength(30);
  for (const day of grid.flat()) expect(isDay(day)).toBe(true);
});

test('a month that begins on a Monday begins in the first row', () =>
  expect(monthGrid('2026-06-15')[0]?.[0]).toBe('2026-06-01'));

test('today is the day in the browser', () => {
  const now = new Date(2026, 10, 27, 0, 30);
  expect(today(now)).toBe('2026-11-27');
});
