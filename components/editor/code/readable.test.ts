import { expect, test } from 'vitest';
import type { Json, Step } from '../../../server/domains/workflows/edits/index.ts';
import { readableAt } from './readable.ts';

const lua = (id: string, ...depends_on: string[]): Step => ({ id, type: 'lua_script', depends_on });
const loop = (id: string, steps: Json, ...depends_on: string[]): Step => ({ id, type: 'for_each', steps, depends_on });

const inner = loop('inner', [lua('x'), lua('y', 'x')] as Json, 'a');
const steps = [lua('first'), loop('each', [lua('a'), inner, lua('beside')] as Json, 'first'), lua('last', 'each')];
const readableIds = (...path: string[]) => {
  const { before, loops } = readableAt(steps, path);
  return [before.map(({ id }) => id), loops.map(({ id }) => id)];
};

test('a step can read the steps before it, in its loop and before its outer loops', () => {
  expect(readableIds('last')).toEqual([['each', 'first'], []]);
  expect(readableIds('each')).toEqual([['first'], []]);
  expect(readableIds('each', 'inner')).toEqual([['a', 'first'], ['each']]);
  expect(readableIds('each', 'inner', 'y')).toEqual([
    ['x', 'a', 'first'],
    ['each', 'inner'],
  ]);
  expect(readableIds('each', 'beside')).toEqual([['first'], ['each']]);
});

test('a step that is not yet in the graph can read the same values as its loop', () => {
  expect(readableIds('each', '')).toEqual([['first'], ['each']]);
  expect(readableIds('each', 'a', 'x')).toEqual([['first'], ['each']]);
  expect(readableIds('gone')).toEqual([[], []]);
});

test('if a loop in the draft has no list of steps, reading ends at that loop', () => {
  expect(readableAt([{ id: 'l', type: 'for_each', steps: 1 }], ['l', 'a'])).toMatchObject({
    before: [],
    loops: [{ id: 'l' }],
  });
  expect(readableAt([loop('l', ['a', null, { id: 1, type: 'x' }])], ['l', 'a'])).toMatchObject({ before: [] });
});
