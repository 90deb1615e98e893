import { expect, test } from 'vitest';
import { BoundedQueue } from './bounded-queue.ts';

async function all<T>(queue: BoundedQueue<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of queue) items.push(item);
  return items;
}

test('yields the items that were added before and during reading, until it ends', async () => {
  const queue = new BoundedQueue<number>(100);
  queue.push(1, 1);
  const reading = all(queue);
  queue.push(2, 1);
  await Promise.resolve();
  queue.push(3, 1);
  queue.end();
  expect(queue.push(4, 1)).toBe(true);
  expect(await reading).toEqual([1, 2, 3]);
});

test('accepts items up to its limit; after an overflow it yields nothing', async () => {
  const full = new BoundedQueue<string>(10);
  expect([full.push('a', 4), full.push('b', 6)]).toEqual([true, true]);
  expect(full.push('c', 1)).toBe(false);
  expect(await all(full)).toEqual([]);
});

test('has room again after items were taken', async () => {
  const queue = new BoundedQueue<string>(10);
  const read: string[] = [];
  queue.push('a', 10);
  const reading = (async () => {
    for await (const item of queue) {
      read.push(item);
      if (read.length < 3) expect(queue.push(`after ${item}`, 10)).toBe(true);
      else queue.end();
    }
  })();
  await reading;
  expect(read).toEqual(['a', 'after a', 'after after a']);
});
