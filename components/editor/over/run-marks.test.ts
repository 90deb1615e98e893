import { expect, test } from 'vitest';
import { isTaken, marksOf } from './run-marks.ts';

const steps = (statuses: Record<string, string>) =>
  marksOf({
    steps: new Map(Object.entries(statuses).map(([id, status]) => [id, { id, status }])),
  } as unknown as Parameters<typeof marksOf>[0]);

test('steps that have not started have no mark', () => {
  expect([...steps({ a: 'completed', b: 'running', c: 'pending' })]).toEqual([
    ['a', 'completed'],
    ['b', 'running'],
  ]);
});

test.each([
  ['completed', 'completed', true],
  ['completed', 'running', true],
  ['completed', 'failed', true],
  ['completed', 'skipped', false],
  ['completed', 'pending', false],
  ['failed', 'skipped', false],
  ['skipped', 'completed', false],
])('the edge from a step that is %s to one that is %s is taken: %s', (from, to, taken) => {
  expect(isTaken(steps({ a: from, b: to }), 'a', 'b')).toBe(taken);
});
