import { expect, test } from 'vitest';
import { type Draft, diff, type Step } from '../../../server/domains/workflows/edits/index.ts';
import { stepNames } from '../../runs/step-names.tsx';
import { NO_DRAFT, stepsOfBoth, withoutMoves } from './describe-changes.ts';
import { changeMarks, nameWithLoops, withInnerSteps } from './inner-changes.ts';

const draft = (...steps: Step[]): Draft => ({ ...NO_DRAFT, graph: { steps } });
const lua = (id: string, script = 'return 1', more: object = {}): Step => ({ id, type: 'lua_script', script, ...more });
const loop = (id: string, steps: Step[], items = '[1]'): Step => ({ id, type: 'for_each', items, steps });

const changesOf = (before: Draft, after: Draft) => {
  const all = withInnerSteps(diff(before, after));
  return { ...all, steps: withoutMoves(all.steps).steps };
};
const marksOf = (before: Draft, after: Draft) => Object.fromEntries(changeMarks(changesOf(before, after).steps));

test('changed steps are marked in loops at any depth; their loops are only marked as containing changes', () => {
  const before = draft(loop('each', [lua('a'), lua('b'), loop('lines', [lua('x'), lua('gone')])]), lua('b'));
  const after = draft(loop('each', [lua('a', 'return 2'), lua('b'), loop('lines', [lua('x'), lua('new')])]), lua('b'));
  expect(marksOf(before, after)).toEqual({
    each: 'contains_changes',
    'each.a': 'changed',
    'each.lines': 'contains_changes',
    'each.lines.new': 'added',
    'each.lines.gone': 'removed',
  });
  expect(changesOf(before, after).steps[0]).toMatchObject({
    step: 'each.a',
    fields: [{ field: 'script', before: 'return 1', after: 'return 2' }],
  });
});

test('a loop is changed if its own settings are; its steps do not count as its field', () => {
  const [before, after] = [draft(loop('each', [lua('a')])), draft(loop('each', [lua('b')], '[2]'))];
  const { steps } = changesOf(before, after);
  expect(steps.map(({ step, change }) => [step, change])).toEqual([
    ['each', 'changed'],
    ['each.b', 'added'],
    ['each.a', 'removed'],
  ]);
  expect(steps[0]).toMatchObject({ fields: [{ field: 'items' }] });
});

test('the steps of an added loop are added, and those of a removed loop removed', () => {
  const whole = draft(loop('each', [loop('lines', [lua('x')])]));
  const loopMarks = (mark: string) => ({ each: mark, 'each.lines': mark, 'each.lines.x': mark });
  expect(marksOf(draft(), whole)).toEqual(loopMarks('added'));
  expect(marksOf(whole, draft())).toEqual(loopMarks('removed'));
  expect(changesOf(draft(), whole).steps[0]).toEqual({
    change: 'added',
    step: 'each',
    after: { id: 'each', type: 'for_each', items: '[1]' },
  });
});

test('moving or reordering the steps of a loop marks no step as changed', () => {
  const before = draft(loop('each', [lua('a'), lua('b')]));
  const after = draft(loop('each', [lua('b'), lua('a', 'return 1', { position: { x: 1, y: 2 } })]));
  expect(changesOf(before, after)).toMatchObject({ steps: [], reordered: true });
});

test('steps that cannot be compared one by one count as a field of their loop', () => {
  const broken: Step = { ...loop('each', []), steps: 'none' };
  expect(marksOf(draft(broken), draft(loop('each', [lua('a')])))).toEqual({ each: 'changed' });
  const script: Step = { id: 'each', type: 'lua_script', script: 'return 1' };
  expect(marksOf(draft(script), draft(loop('each', [lua('a')])))).toEqual({ each: 'changed' });
});

test('removed steps of a loop are still drawn in the loop', () => {
  const before = draft(loop('each', [lua('gone'), loop('lines', [lua('x')])])).graph;
  const after = draft(loop('each', [lua('new'), loop('lines', [])])).graph;
  expect(stepsOfBoth(before, after)).toEqual([loop('each', [lua('new'), loop('lines', [lua('x')]), lua('gone')])]);
});

test('the name of a step in a loop includes the names of its loops', () => {
  const called = stepNames([{ ...loop('each', [{ ...lua('pay'), name: 'Pay' }, lua('log')]), name: 'Each order' }]);
  expect(nameWithLoops('each.pay', called)).toBe('Each order › Pay');
  expect(nameWithLoops('each.log', called)).toBe('Each order › log');
  expect(nameWithLoops('each', called)).toBe('Each order');
});
