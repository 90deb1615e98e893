import { expect, test } from 'vitest';
import { ByteBudget } from './byte-budget.ts';

const never = new AbortController().signal;
const settled = async () => {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
};

/** Asks for bytes and notes the tenant once they are granted. */
function ask(budget: ByteBudget, order: string[], tenant: string, bytes: number, signal = never): void {
  void budget.take(tenant, bytes, signal).then(
    () => order.push(tenant),
    () => undefined,
  );
}

test('a budget that is not shared may be used up by one tenant', () => {
  const budget = new ByteBudget(100, { isShared: false });
  expect([60, 40, 1].map(bytes => budget.tryTake('a', bytes))).toEqual([true, true, false]);
});

test('a tenant may take at most as much of a shared budget as is left for the others', () => {
  const budget = new ByteBudget(100, { isShared: true });
  expect(budget.tryTake('a', 30)).toBe(true);
  // 30 are held and 70 free: up to 40 more.
  expect(budget.tryTake('a', 41)).toBe(false);
  expect(budget.tryTake('a', 40)).toBe(true);
  expect(budget.tryTake('a', 1)).toBe(false);
  expect(budget.tryTake('b', 31)).toBe(false);
  expect(budget.tryTake('b', 15)).toBe(true);
});

test('half of the rest is always left for later tenants', () => {
  const budget = new ByteBudget(1_000, { isShared: true });
  const takeAll = (tenant: string) => {
    let taken = 0;
    while (budget.tryTake(tenant, 1)) taken += 1;
    return taken;
  };
  expect(['a', 'b', 'c', 'd'].map(takeAll)).toEqual([500, 250, 125, 63]);
});

test('a request larger than the budget is granted when nothing else is in use', async () => {
  const budget = new ByteBudget(100, { isShared: true });
  const order: string[] = [];
  expect(budget.tryTake('a', 10)).toBe(true);
  ask(budget, order, 'b', 101);
  await settled();
  expect([order, budget.waiting]).toEqual([[], 1]);
  budget.give('a', 10);
  await settled();
  expect([order, budget.waiting, budget.used]).toEqual([['b'], 0, 101]);
});

test('waiting tenants are served in turn, and a request that does not fit delays no other tenant', async () => {
  const budget = new ByteBudget(100, { isShared: true });
  const order: string[] = [];
  expect(budget.tryTake('a', 45)).toBe(true);
  expect(budget.tryTake('z', 45)).toBe(true);
  for (const tenant of ['a', 'a', 'b', 'b', 'c']) ask(budget, order, tenant, 20);
  await settled();
  expect(order).toEqual([]);
  budget.give('z', 45);
  await settled();
  // a holds 45, b 20, c 20: no other tenant may have 20 of the 15 that are left.
  expect(order).toEqual(['b', 'c']);
  budget.give('a', 45);
  await settled();
  expect(order).toEqual(['b', 'c', 'a', 'b']);
});

test('an aborted request takes no bytes, and later requests are served', async () => {
  const budget = new ByteBudget(100, { isShared: false });
  const order: string[] = [];
  const aborted = new AbortController();
  expect(budget.tryTake('a', 50)).toBe(true);
  ask(budget, order, 'b', 60, aborted.signal);
  ask(budget, order, 'b', 40);
  await settled();
  expect(order).toEqual([]);
  aborted.abort();
  await settled();
  expect([order, budget.used]).toEqual([['b'], 90]);
});
