import { expect, test } from 'vitest';
import { afterEnd, restartDelay } from './supervise.mjs';

const fresh = { deaths: 0, served: false };
const ended = { code: null, servedMs: undefined, misconfigured: false };
const MINUTE = 60_000;

test('the delay before a restart doubles from a second to a minute', () => {
  expect([1, 2, 3, 6, 7, 8, 1000].map(restartDelay)).toEqual([1000, 2000, 4000, 32_000, 60_000, 60_000, 60_000]);
});

test('a service that ended cleanly is not started again', () => {
  expect(afterEnd(fresh, { ...ended, code: 0, servedMs: 1 })).toBeUndefined();
});

test('a service that served is started again after a kill or a defect', () => {
  expect(afterEnd(fresh, { ...ended, servedMs: 1 })).toEqual({ deaths: 1, served: true });
  expect(afterEnd(fresh, { ...ended, code: 1, servedMs: 1 })).toEqual({ deaths: 1, served: true });
});

test('a failed first start is not retried, but a failed restart is', () => {
  expect(afterEnd(fresh, { ...ended, code: 1 })).toBeUndefined();
  expect(afterEnd({ deaths: 1, served: true }, { ...ended, code: 1 })).toEqual({ deaths: 2, served: true });
});

test('an invalid configuration is never retried', () => {
  expect(afterEnd({ deaths: 1, served: true }, { ...ended, code: 1, misconfigured: true })).toBeUndefined();
});

test('a service that is killed before it serves is started five times', () => {
  let history: { deaths: number; served: boolean } | undefined = fresh;
  let starts = 0;
  for (; history !== undefined; starts++) history = afterEnd(history, ended);
  expect(starts).toBe(5);
});

test('after ten minutes of serving, the next death counts as the first', () => {
  const history = { deaths: 4, served: true };
  expect(afterEnd(history, { ...ended, servedMs: 10 * MINUTE - 1 })?.deaths).toBe(5);
  expect(afterEnd(history, { ...ended, servedMs: 10 * MINUTE })?.deaths).toBe(1);
});
