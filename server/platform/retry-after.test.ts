import { expect, test } from 'vitest';
import { HOUR_MS } from './clock.ts';
import { retryAfterMs } from './retry-after.ts';

const now = Date.UTC(2026, 0, 1);

test.each<[string | null, number | undefined]>([
  [null, undefined],
  ['', undefined],
  ['soon', undefined],
  ['-1', 0],
  ['0', 0],
  [' 7 ', 7_000],
  ['86400', HOUR_MS],
  ['999999999', HOUR_MS],
  ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
  ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
  ['Fri, 01 Jan 2027 00:00:00 GMT', HOUR_MS],
])('Retry-After: %s', (value, expected) => {
  expect(retryAfterMs(value, now)).toBe(expected);
});
