import { expect, test } from 'vitest';
import { stepNames } from './step-names.tsx';

const graph = [
  { id: 'order', name: 'Read the order' },
  { id: 'plain', name: ' ' },
  {
    id: 'each',
    name: 'Each order',
    steps: [
      { id: 'order', name: 'Read one order' },
      { id: 'lines', steps: [{ id: 'pack', name: 'Pack it' }, { id: 'weigh' }] },
    ],
  },
];
const called = stepNames(graph, [
  { id: 'order', name: 'Older' },
  { id: 'gone', name: 'Removed' },
]);

test('a step has its name from the first graph with a name, or else its id', () => {
  expect(['order', 'gone', 'plain', 'nowhere'].map(called)).toEqual(['Read the order', 'Removed', 'plain', 'nowhere']);
});

test('a step of an item has the name of the step in its loop, and the number of the item', () => {
  expect(called('each.3.order')).toBe('Read one order, item 4');
  expect(called('each.3.lines')).toBe('lines, item 4');
  expect(called('each.3.lines.0.pack')).toBe('Pack it, item 4.1');
  expect(called('each.3.lines.0.weigh')).toBe('weigh, item 4.1');
});

test('a step added by an agent has its id', () => {
  for (const id of ['order.2', 'order.2.1', 'order.2.1.ok', 'order.c1', 'each.3.order.2.1'])
    expect(called(id)).toBe(id);
});
