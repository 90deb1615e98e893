import { expect, test } from 'vitest';
import type { Step, StepChange } from '../../../server/domains/workflows/edits/index.ts';
import { nodeSize, ROW_GAP } from '../../graph/layout.ts';
import { ghostsOf } from './ghosts.ts';

const step = (id: string, more: object = {}): Step => ({ id, type: 'lua_script', ...more });
const added = (id: string, more: object = {}): StepChange => ({ change: 'added', step: id, after: step(id, more) });

test('a proposal adds, changes and removes steps, and keeps the other steps of the draft', () => {
  const draftSteps = [step('a'), step('b', { script: 'mine' }), step('c')];
  const { steps, marks } = ghostsOf(draftSteps, [
    added('new', { depends_on: ['a'] }),
    { change: 'changed', step: 'b', fields: [{ field: 'depends_on', after: ['new'] }] },
    { change: 'removed', step: 'c', before: step('c') },
  ]);
  expect(steps).toEqual([
    step('a'),
    step('b', { script: 'mine', depends_on: ['new'] }),
    step('c'),
    step('new', { depends_on: ['a'] }),
  ]);
  expect([...marks]).toEqual([
    ['new', 'added'],
    ['b', 'changed'],
    ['c', 'removed'],
  ]);
});

test('shows later changes of the draft', () => {
  const { steps, marks } = ghostsOf(
    [step('got', { script: 'mine' })],
    [
      added('got', { script: 'theirs' }),
      { change: 'changed', step: 'lost', fields: [{ field: 'name', after: 'x' }] },
      { change: 'removed', step: 'gone', before: step('gone') },
    ],
  );
  expect(steps).toEqual([step('got', { script: 'mine' })]);
  expect([...marks]).toEqual([['got', 'changed']]);
});

test('moving a step is not a change', () => {
  const moved: StepChange = { change: 'changed', step: 'a', fields: [{ field: 'position', after: { x: 9, y: 9 } }] };
  const draftSteps = [step('a', { position: { x: 1, y: 1 } })];
  expect(ghostsOf(draftSteps, [moved])).toEqual({ steps: draftSteps, marks: new Map() });
});

test('in an arranged graph, new steps are placed side by side below their dependencies', () => {
  const draftSteps = [step('a', { position: { x: 0, y: 0 } }), step('z', { position: { x: 500, y: 0 } })];
  const { steps } = ghostsOf(draftSteps, [
    added('one', { depends_on: ['z'] }),
    added('two', { depends_on: ['z'] }),
    added('three', { depends_on: ['two'] }),
    added('own', { position: { x: -900, y: 7 } }),
  ]);
  const row = nodeSize.height + ROW_GAP;
  expect(steps.map(({ id, position }) => [id, position])).toEqual([
    ['a', { x: 0, y: 0 }],
    ['z', { x: 500, y: 0 }],
    ['one', { x: 500, y: row }],
    ['two', { x: 500 + nodeSize.width + 32, y: row }],
    ['three', { x: 500 + nodeSize.width + 32, y: 2 * row }],
    ['own', { x: -900, y: 7 }],
  ]);
  expect(ghostsOf([step('a')], [added('b')]).steps[1]).not.toHaveProperty('position');
});
