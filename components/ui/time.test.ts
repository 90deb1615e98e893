import { expect, test, vi } from 'vitest';
import { formatLocal, formatLocalClock, formatRelative } from './time.tsx';

const now = Date.parse('2026-03-09T12:00:00.000Z');
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

test.each([
  [2 * SECOND, 'just now'],
  [59.9 * SECOND, '59 sec ago'],
  [89 * SECOND, '1 min ago'],
  [59.9 * MINUTE, '59 min ago'],
  [23.9 * HOUR, '23 hr ago'],
  [24 * HOUR, 'yesterday'],
  [13 * DAY, '13 days ago'],
  [20 * DAY, '2 wk ago'],
  [59 * DAY, '8 wk ago'],
  [64 * DAY, '2 mo ago'],
  [364 * DAY, '11 mo ago'],
  [365 * DAY, '1 yr ago'],
  [800 * DAY, '2 yr ago'],
])('%d ms ago is "%s"', (ago, text) => expect(formatRelative(now - ago, now)).toBe(text));

test('yesterday and the days before are those of the local calendar', () => {
  const noon = new Date(2026, 2, 9, 12).getTime();
  expect(formatRelative(new Date(2026, 2, 8, 11).getTime(), noon)).toBe('yesterday');
  expect(formatRelative(new Date(2026, 2, 7, 13).getTime(), noon)).toBe('2 days ago');
});

test('future times are described in the same way', () => {
  expect(formatRelative(now + 119 * SECOND, now)).toBe('in 1 min');
  expect(formatRelative(now + 24 * HOUR, now)).toBe('tomorrow');
});

test('exact times are local, and name their zone', () => {
  const at = new Date(2026, 2, 9, 15, 5, 1, 250).toISOString();
  expect(formatLocal(at)).toMatch(/^9 Mar 2026, 15:05:01 \S+/);
  expect(formatLocalClock(at)).toBe('15:05:01.250');
});

test('no formatter is made before a time or an amount needs one: a phone would wait for it', async () => {
  const made = [vi.spyOn(Intl, 'DateTimeFormat'), vi.spyOn(Intl, 'NumberFormat')];
  vi.resetModules();
  await Promise.all([import('./time.tsx'), import('./credits.tsx')]);
  for (const each of made) expect(each).not.toHaveBeenCalled();
  vi.restoreAllMocks();
});
