import { expect, test } from 'vitest';
import { failedNear, itemsNamed, nodeOfStep, placeIn, stepOfNode } from './loop-place.ts';

test('the id of a selected step determines the shown item of a loop', () => {
  expect(placeIn('each', 'each.11.fetch')).toEqual({ index: 11, name: 'fetch' });
  expect(placeIn('each', 'each.11')).toEqual({ index: 11, name: null });
  expect(placeIn('each.3.inner', 'each.3.inner.0.deep')).toEqual({ index: 0, name: 'deep' });
  expect(placeIn('each', 'each.3.inner.0.deep')).toEqual({ index: 3, name: 'inner' });
  for (const other of [null, 'each', 'each_more', 'each.x.y', 'other.1.a']) expect(placeIn('each', other)).toBeNull();
});

test('the previous and next failed items are found', () => {
  expect(failedNear([9, 19, 29], 0)).toEqual({ before: null, after: 9 });
  expect(failedNear([9, 19, 29], 19)).toEqual({ before: 9, after: 29 });
  expect(failedNear([9, 19, 29], 40)).toEqual({ before: 29, after: null });
  expect(failedNear([], 3)).toEqual({ before: null, after: null });
});

test('a step in nested loops names an item of each, and has one node in the drawing', () => {
  const id = 'each.3.inner.10.x';
  expect([...itemsNamed(id)]).toEqual([
    ['each', 3],
    ['each.3.inner', 10],
  ]);
  expect(nodeOfStep(id)).toBe('each.inner.x');
  expect(stepOfNode('each.inner.x', itemsNamed(id))).toBe(id);
  expect(stepOfNode('each.inner', new Map())).toBe('each.0.inner');
  // An item, a step of the graph, and a step that an agent added.
  expect(nodeOfStep('each.3')).toBe('each');
  expect(nodeOfStep('each')).toBe('each');
  expect(nodeOfStep('helper.turn-1')).toBe('helper.turn-1');
});
