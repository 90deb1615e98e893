import { expect, test } from 'vitest';
import { findSteps, markedNodes } from './found-steps.ts';

const inner = {
  id: 'lines',
  type: 'for_each',
  steps: [{ id: 'charge', type: 'http_request', name: 'Charge the card' }],
};
const steps = [
  { id: 'load', type: 'http_request' },
  { id: 'orders', type: 'for_each', name: 'Each order', steps: [{ id: 'check', type: 'condition' }, inner] },
];

test('steps in loops are found at any depth, with the names of their loops', () => {
  const found = findSteps(steps, ' HTTP ');
  expect(found.map(({ node, inside }) => [node, inside])).toEqual([
    ['load', []],
    ['orders.lines.charge', ['Each order', 'lines']],
  ]);
  expect(findSteps(steps, 'card').map(({ node }) => node)).toEqual(['orders.lines.charge']);
  expect(findSteps(steps, '')).toEqual([]);
});

test('a found step in a closed loop marks the outermost closed loop', () => {
  const found = findSteps(steps, 'charge');
  const marked = (...open: string[]) => [...markedNodes(found, level => open.includes(level))];
  expect(marked()).toEqual(['orders']);
  expect(marked('orders')).toEqual(['orders.lines']);
  expect(marked('orders', 'orders.lines')).toEqual(['orders.lines.charge']);
});
