import { expect, test } from 'vitest';
import { retryAfterMs } from './save-failure.ts';
import { describeSaveFailure } from './save-failure-words.ts';

const errorWith = (status: number, headers: Record<string, string> = {}, data: object = {}) =>
  Object.assign(new Error('Refused.'), {
    data: { status, ...data },
    meta: { response: new Response(null, { status, headers }) },
  });

test('a temporary failure is retried', () => {
  expect(retryAfterMs(new TypeError('Failed to fetch'))).toBeUndefined();
  for (const status of [401, 408, 425, 500, 502, 503, 504]) expect(retryAfterMs(errorWith(status))).toBeUndefined();
});

test('after too many requests, the retry waits as long as the server asks', () => {
  expect(retryAfterMs(errorWith(429, { 'Retry-After': '17' }))).toBe(17_000);
  expect(retryAfterMs(errorWith(429))).toBe(0);
});

test('a permanent failure is not retried, and its message says what to do', () => {
  const words = [
    [403, 'Ask an admin'],
    [404, 'Copy your changes'],
    [409, 'Refused.'],
    [413, 'too large'],
    [422, 'Not saved: At most 1,000 steps. Change it'],
  ] as const;
  const details = [{ path: 'graph.steps', message: 'At most 1,000 steps.' }];
  for (const [status, part] of words) {
    const error = errorWith(status, {}, { details });
    expect(retryAfterMs(error)).toBeNull();
    expect(describeSaveFailure({ error, retryAt: null })).toContain(part);
  }
});
