import { expect, test } from 'vitest';
import type { Step } from '../../../server/domains/workflows/edits/index.ts';
import type { LastResult } from '../values/last-results.ts';
import { earlierResults, givenResults } from './earlier.ts';

const last = (result: number, more: Partial<LastResult> = {}): LastResult => ({
  result,
  runId: 'r',
  at: '2026-01-01T00:00:00Z',
  isTest: true,
  isLarge: false,
  ...more,
});
const steps: Step[] = [
  { id: 'a', type: 'lua_script', name: 'Order' },
  { id: 'b', type: 'lua_script' },
];
const given = {
  before: ['c', 'b', 'a'],
  steps,
  typed: null,
  pins: { a: 'pinned' },
  run: null,
  last: {
    input: {},
    results: new Map([
      ['a', last(1)],
      ['b', last(2)],
    ]),
  },
};
const sources = (earlier: ReturnType<typeof earlierResults>) =>
  earlier.map(({ name, source, result }) => [name, source, result]);

test('a test uses the last result of each step, unless a result is pinned', () => {
  const earlier = earlierResults(given);
  expect(sources(earlier)).toEqual([
    ['c', 'none', null],
    ['b', 'last', 2],
    ['Order', 'pinned', 'pinned'],
  ]);
  expect(givenResults(earlier)).toEqual({ b: 2 });
});

test('a chosen run provides all results that are not pinned, so they are not sent', () => {
  const earlier = earlierResults({ ...given, run: { results: { a: 5 }, tooLarge: ['b'] } });
  expect(sources(earlier)).toEqual([
    ['c', 'none', null],
    ['b', 'run', null],
    ['Order', 'pinned', 'pinned'],
  ]);
  expect(givenResults(earlier)).toEqual({});
});

test('typed results replace all others', () => {
  const earlier = earlierResults({ ...given, typed: { a: 'typed', c: null } });
  expect(sources(earlier)).toEqual([
    ['c', 'typed', null],
    ['b', 'none', null],
    ['Order', 'typed', 'typed'],
  ]);
  expect(givenResults(earlier)).toEqual({ a: 'typed', c: null });
});

test('a result that is too large is not sent', () => {
  const results = new Map([['b', last(0, { isLarge: true })]]);
  expect(givenResults(earlierResults({ ...given, pins: {}, last: { input: {}, results } }))).toEqual({});
});
