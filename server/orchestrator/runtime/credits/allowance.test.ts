import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Allowance } from './allowance.ts';

const REFUSED = { kind: 'refused', error: { code: 'ai_budget_exhausted', message: '' } };
const never = new AbortController().signal;

/** An allowance of `limit`, and the database that it reads. */
function allowanceOf(limit: number) {
  const stored = { limit, spent: 0 };
  const allowance = new Allowance({ read: async () => ({ ...stored }), refusal: () => REFUSED.error });
  /** Ends an attempt like the executor: releases the reservation, decides the charge, and commits it. */
  const end = async (key: string, cost: number) => {
    allowance.release(key);
    allowance.send(cost);
    await Promise.resolve();
    stored.spent += cost;
    await Promise.resolve();
    allowance.sent(cost, true);
  };
  return { allowance, stored, end };
}

test('concurrent attempts never reserve the same credits: the next one waits for the rest', async () => {
  const { allowance, end } = allowanceOf(10);
  const reserve = (key: string, least = 1, most = 8) => allowance.reserve(key, { least, most }, never);
  expect(await reserve('a')).toEqual({ kind: 'reserved', microcredits: 8 });
  const second = reserve('b');
  let isDone = false;
  void second.then(() => {
    isDone = true;
  });
  await new Promise(setImmediate);
  expect(isDone).toBe(false);
  await end('a', 6);
  expect(await second).toEqual({ kind: 'reserved', microcredits: 4 });
  await end('b', 4);
  expect(await reserve('c')).toEqual(REFUSED);
});

test('an attempt for which enough is left does not wait', async () => {
  const { allowance } = allowanceOf(10);
  for (const key of ['a', 'b']) {
    const reserved = await allowance.reserve(key, { least: 1, most: 5 }, never);
    expect(reserved).toEqual({ kind: 'reserved', microcredits: 5 });
  }
});

test('credits for steps that are certain to follow are reserved', async () => {
  const { allowance } = allowanceOf(10);
  allowance.pledge('run', 7);
  expect(await allowance.reserve('a', { least: 1, most: 5 }, never)).toEqual({ kind: 'reserved', microcredits: 3 });
  allowance.release('a');
  allowance.pledge('run', 0);
  expect(await allowance.reserve('a', { least: 1, most: 5 }, never)).toEqual({ kind: 'reserved', microcredits: 5 });
});

test('an aborted attempt stops waiting', async () => {
  const { allowance } = allowanceOf(10);
  await allowance.reserve('a', { least: 1, most: 10 }, never);
  const over = new AbortController();
  const second = allowance.reserve('b', { least: 1, most: 10 }, over.signal);
  await new Promise(setImmediate);
  over.abort(new Error('over'));
  await expect(second).rejects.toThrow('over');
  allowance.release('a');
  expect(await allowance.reserve('c', { least: 1, most: 10 }, never)).toMatchObject({ kind: 'reserved' });
});

test('any mix of attempts stays within the limit', async () => {
  const attempts = fc.array(
    fc.record({ least: fc.integer({ min: 1, max: 5 }), more: fc.nat(20), share: fc.nat(100), turns: fc.nat(6) }),
    { minLength: 1, maxLength: 25 },
  );
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 60 }), attempts, async (limit, all) => {
      const { allowance, stored, end } = allowanceOf(limit);
      const outcomes = await Promise.all(
        all.map(async ({ least, more, share, turns }, index) => {
          const key = String(index);
          const reserved = await allowance.reserve(key, { least, most: least + more }, never);
          if (reserved.kind === 'refused') return false;
          for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
          // The attempt costs at most its reservation.
          await end(key, Math.floor((reserved.microcredits * share) / 100));
          return true;
        }),
      );
      expect(stored.spent).toBeLessThanOrEqual(limit);
      expect(allowance.isIdle).toBe(true);
      // An attempt is refused only if the credits are too few for it.
      if (outcomes.includes(false)) expect(limit - stored.spent).toBeLessThan(5);
    }),
    { numRuns: 150 },
  );
});
