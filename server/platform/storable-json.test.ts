import { expect, test } from 'vitest';
import { storageProblem } from './storable-json.ts';

const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) });

test('ordinary JSON is storable', () => {
  expect(storageProblem({ a: [1, 'é😀', null, true, { '': -0.5 }] })).toBeNull();
  expect(storageProblem(nested(100))).toBeNull();
});

test.each<[string, unknown, string]>([
  ['a NUL', { a: { b: ['x', 'y\0'] } }, 'a.b.1'],
  ['half a surrogate pair', { a: '\ud83d' }, 'a'],
  ['a key with a NUL', { a: { 'k\0': 1 } }, 'a'],
  ['a number that is not finite', { a: Number.NaN }, 'a'],
  ['nesting deeper than 100', nested(101), Array.from({ length: 100 }, () => 'a').join('.')],
])('%s is found, with its place', (_what, value, path) => {
  expect(storageProblem(value)).toEqual({ path, message: expect.any(String) });
});

test('depth cannot exhaust the stack', () => {
  let deep: unknown = 1;
  for (let n = 0; n < 200_000; n++) deep = [deep];
  expect(storageProblem(deep)).not.toBeNull();
});
