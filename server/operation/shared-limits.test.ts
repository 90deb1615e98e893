import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, ManualClock, MINUTE_MS } from '../platform/clock.ts';
import { createTestDatabase, type TestDatabase } from '../testing/postgres.ts';
import { createRequestLimiter, type RateLimitKind } from './rate-limits.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());

const limits = {
  principal: 3,
  address: 3,
  signIn: 3,
  signInPerAddress: 4,
  failedSignInsPerAddress: 5,
  wrongCodes: 2,
};
const clock = new ManualClock();
const two = () => [createRequestLimiter(limits, clock, db.pool), createRequestLimiter(limits, clock, db.pool)] as const;

const shared: [RateLimitKind, number, number][] = [
  ['sign_in', 3, MINUTE_MS],
  ['sign_in_address', 4, MINUTE_MS],
  ['failed_sign_in', 5, DAY_MS],
  ['wrong_code', 2, HOUR_MS],
  ['mail', 5, HOUR_MS],
  ['notification_test', 10, HOUR_MS],
];

describe.each(shared)('%s', (kind, limit, windowMs) => {
  test('is counted by two nodes together, up to the limit and no further, until the window ends', async () => {
    const [one, other] = two();
    for (let used = 1; used <= limit + 1; used++) {
      const state = await (used % 2 === 0 ? one : other).take(kind, 'x');
      expect(state).toEqual({
        limit,
        remaining: Math.max(0, limit - used),
        resetSeconds: windowMs / 1000 - (clock.now() % windowMs) / 1000,
        allowed: used <= limit,
      });
    }
    expect((await one.take(kind, 'y')).allowed).toBe(true);
    await other.refund(kind, 'y');
    expect((await one.take(kind, 'y')).remaining).toBe(limit - 1);
    clock.advance(windowMs);
    expect(await other.take(kind, 'x')).toMatchObject({ remaining: limit - 1, allowed: true });
  });
});

test('attempts at the same time are all counted', async () => {
  const nodes = two();
  const states = await Promise.all(
    Array.from({ length: 12 }, (_, at) => (nodes[at % 2] ?? nodes[0]).take('mail', 'at once')),
  );
  expect(states.filter(({ allowed }) => allowed)).toHaveLength(5);
});

test('a node whose clock is late counts in the window that has begun', async () => {
  const late = new ManualClock(clock.now() - 2_000 - (clock.now() % MINUTE_MS));
  const [one] = two();
  const other = createRequestLimiter(limits, late, db.pool);
  for (let used = 1; used <= 3; used++) await one.take('sign_in', 'clocks');
  expect((await other.take('sign_in', 'clocks')).allowed).toBe(false);
});

test('a refund never goes below zero, and not into another window', async () => {
  const [one, other] = two();
  await one.refund('sign_in', 'r');
  await one.take('sign_in', 'r');
  await one.refund('sign_in', 'r');
  await other.refund('sign_in', 'r');
  expect((await one.take('sign_in', 'r')).remaining).toBe(2);
  clock.advance(MINUTE_MS);
  await one.refund('sign_in', 'r');
  expect((await other.take('sign_in', 'r')).remaining).toBe(2);
});

test('requests are counted by each node, and nothing is counted where no database is given', async () => {
  const [one, other] = two();
  for (let used = 1; used <= 3; used++) await one.take('principal', 'p');
  expect((await one.take('principal', 'p')).allowed).toBe(false);
  expect((await other.take('principal', 'p')).allowed).toBe(true);
  const { rows } = await db.pool.query("SELECT 1 FROM rate_counts WHERE kind IN ('principal', 'address')");
  expect(rows).toEqual([]);
});

test('windows that have ended are removed, and keys are not readable', async () => {
  await two()[0].take('sign_in', 'sign-in:192.0.2.1:ada@example.com');
  clock.advance(2 * DAY_MS);
  await two()[0].take('mail', 'new');
  const { rows } = await db.pool.query<{ kind: string; key: Buffer }>('SELECT kind, key FROM rate_counts');
  expect(rows.map(({ kind, key }) => [kind, key.byteLength])).toEqual([['mail', 32]]);
});
