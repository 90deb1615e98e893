import { expect, test } from 'vitest';
import { setBounded } from './bounded-map.ts';

test('a bounded map evicts its oldest entry, and setting an entry again makes it the newest', () => {
  const map = new Map([
    ['a', 1],
    ['b', 2],
  ]);
  setBounded(map, 'a', 3, 2);
  expect([...map]).toEqual([
    ['b', 2],
    ['a', 3],
  ]);
  setBounded(map, 'c', 4, 2);
  expect([...map]).toEqual([
    ['a', 3],
    ['c', 4],
  ]);
});
