import { expect, test } from 'vitest';
import { ManualClock } from '../platform/clock.ts';
import { createRequestLimiter } from './rate-limits.ts';

const limiter = (limits = { principal: 3, address: 2, signIn: 1, wrongCodes: 1 }) => {
  const clock = new ManualClock();
  return { clock, limiter: createRequestLimiter(limits, clock) };
};

test('allows up to the limit and refuses the next one', async () => {
  const { limiter: limits } = limiter();
  expect(await limits.take('principal', 'pat:a')).toEqual({ limit: 3, remaining: 2, resetSeconds: 60, allowed: true });
  await limits.take('principal', 'pat:a');
  expect(await limits.take('principal', 'pat:a')).toMatchObject({ remaining: 0, allowed: true });
  expect(await limits.take('principal', 'pat:a')).toMatchObject({ remaining: 0, allowed: false });
});

test('counts each key and each kind separately', async () => {
  const { limiter: limits } = limiter();
  for (let i = 0; i < 4; i++) await limits.take('principal', 'x');
  expect((await limits.take('principal', 'y')).allowed).toBe(true);
  expect((await limits.take('address', 'x')).allowed).toBe(true);
});

test('reports when the window ends, and starts again then', async () => {
  const { clock, limiter: limits } = limiter();
  await limits.take('sign_in', 'x');
  clock.advance(59_001);
  expect(await limits.take('sign_in', 'x')).toMatchObject({ allowed: false, resetSeconds: 1 });
  clock.advance(999);
  expect(await limits.take('sign_in', 'x')).toMatchObject({ allowed: true, resetSeconds: 60 });
});

test('counts wrong codes by the hour', async () => {
  const { clock, limiter: limits } = limiter();
  await limits.take('wrong_code', 'x');
  clock.advance(3_599_001);
  expect(await limits.take('wrong_code', 'x')).toMatchObject({ allowed: false, resetSeconds: 1 });
  clock.advance(999);
  expect(await limits.take('wrong_code', 'x')).toMatchObject({ allowed: true, resetSeconds: 3600 });
});

test('refunds a request that belongs to another key, but not from an earlier minute, and never below zero', async () => {
  const { clock, limiter: limits } = limiter();
  await limits.take('address', 'x');
  await limits.refund('address', 'x');
  await limits.refund('address', 'x');
  expect(await limits.take('address', 'x')).toMatchObject({ remaining: 1 });
  await limits.take('address', 'x');
  expect((await limits.take('address', 'x')).allowed).toBe(false);
  clock.advance(60_000);
  await limits.refund('address', 'x');
  expect(await limits.take('address', 'x')).toMatchObject({ remaining: 1 });
});

test('0 switches a limit off', async () => {
  const { limiter: limits } = limiter({ principal: 0, address: 1, signIn: 1, wrongCodes: 1 });
  for (let i = 0; i < 50; i++) expect((await limits.take('principal', 'x')).allowed).toBe(true);
  expect((await limits.take('principal', 'x')).limit).toBe(0);
});

test('a flood of keys drops the oldest keys and never grows beyond the limit', async () => {
  const { limiter: limits } = limiter();
  await limits.take('address', 'first');
  await limits.take('address', 'first');
  for (let i = 0; i < 100_000; i++) await limits.take('address', `flood-${i}`);
  expect((await limits.take('address', 'first')).allowed).toBe(true);
});
