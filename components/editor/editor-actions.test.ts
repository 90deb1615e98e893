import { describe, expect, test } from 'vitest';
import { apply, type Draft, type Edit, type Json, type Step } from '../../server/domains/workflows/edits/index.ts';
import { edgesOf, layout } from '../graph/layout.ts';
import {
  copyText,
  freeId,
  graphSteps,
  isPlaced,
  pastedSteps,
  placeAfter,
  planBranch,
  planDisabling,
  planDuplicate,
  planMoves,
  planPaste,
  planRemoval,
  planStep,
} from './editor-actions.ts';

const step = (id: string, ...depends_on: string[]): Step => ({
  id,
  type: 'lua_script',
  script: `return {{steps.${depends_on[0] ?? 'x'}.result}}`,
  ...(depends_on.length > 0 ? { depends_on } : {}),
});
const check: Step = { id: 'check', type: 'condition', expression: 'true', depends_on: ['a'], then: ['yes'] };
const draftOf = (...steps: Step[]): Draft => ({ name: 'n', description: '', graph: { steps }, run_setup: {} });
const at = (id: string, x: number, y: number, ...depends_on: string[]): Step => ({
  ...step(id, ...depends_on),
  position: { x, y },
});
const placesOf = (draft: Draft) => layout(graphSteps(draft), edgesOf(graphSteps(draft)));

function applyAll(draft: Draft, edits: readonly Edit[]): Draft {
  return edits.reduce((present, edit) => {
    const result = apply(present, edit);
    if (!result.ok) throw new Error(result.problem.message);
    return result.draft;
  }, draft);
}
const stepsAfter = (draft: Draft, edits: readonly Edit[]) => applyAll(draft, edits).graph.steps;
const byId = (steps: readonly Step[], id: string) => steps.find(each => each.id === id);

describe('a new step', () => {
  const draft = draftOf(step('a'), check, step('yes', 'check'));

  test('has no ID that is used outside of its loop, and neither has a copy', () => {
    const reserved = ['wait', 'a', 'a_2'];
    expect(planStep(draft, { type: 'wait' }, { kind: 'free' }, placesOf(draft), reserved).added).toEqual(['wait_2']);
    expect(planPaste(draftOf(), [step('a')], reserved).added).toEqual(['a_3']);
    expect(planDuplicate(draft, ['a'], reserved).added).toEqual(['a_3']);
  });

  test('goes after a step, into a branch, between two steps, or without a connection', () => {
    const places = placesOf(draft);
    const after = planStep(draft, { type: 'lua_script' }, { kind: 'after', step: 'check', branch: 'else' }, places);
    expect(after.added).toEqual(['lua_script']);
    const steps = stepsAfter(draft, after.edits);
    expect(byId(steps, 'check')).toMatchObject({ then: ['yes'], else: ['lua_script'] });
    expect(byId(steps, 'lua_script')).toMatchObject({ depends_on: ['check'], script: 'return {}' });

    const between = stepsAfter(
      draft,
      planStep(draft, { type: 'human_task' }, { kind: 'between', from: 'check', to: 'yes' }, places).edits,
    );
    expect(byId(between, 'check')).toMatchObject({ then: ['human_task'] });
    expect(byId(between, 'yes')).toMatchObject({ depends_on: ['human_task'] });

    const free = stepsAfter(draft, planStep(draft, { type: 'mcp_call' }, { kind: 'free' }, places).edits);
    expect(free.at(-1)).toEqual({ id: 'mcp_call', type: 'mcp_call' });
  });

  test('fills the branches of a condition one after the other', () => {
    expect(placeAfter(draft, 'a')).toEqual({ kind: 'after', step: 'a' });
    expect(placeAfter(draft, 'check')).toEqual({ kind: 'after', step: 'check', branch: 'else' });
    const both = draftOf({ ...check, else: ['no'] });
    expect(placeAfter(both, 'check')).toEqual({ kind: 'after', step: 'check' });
    expect(placeAfter(draft, 'nowhere')).toEqual({ kind: 'free' });
  });

  test('has an id that no other step has, including the steps of loops', () => {
    const inner = [
      { id: 'wait', type: 'wait' },
      { id: 'wait_2', type: 'wait' },
    ] as unknown as Json;
    const looped = draftOf({ id: 'each', type: 'for_each', items: 'input.x', steps: inner });
    expect(planStep(looped, { type: 'wait' }, { kind: 'free' }, placesOf(looped)).added).toEqual(['wait_3']);
    expect(planPaste(looped, [step('wait')]).added).toEqual(['wait_3']);
    expect(freeId(new Set(), 'step')).toBe('step');
    expect(freeId(new Set(['step', 'step_2']), 'step')).toBe('step_3');
    expect(freeId(new Set(), '1 x')).toBe('step');
    expect(freeId(new Set(['a'.repeat(58)]), 'a'.repeat(64))).toBe(`${'a'.repeat(58)}_2`);
  });

  test('does not overlap other steps in a graph with fixed positions, and moves only the steps after it', () => {
    const placed = draftOf(at('a', 0, 0), at('b', 0, 104, 'a'), at('c', 0, 208, 'b'), at('d', 400, 104, 'a'));
    const places = placesOf(placed);
    const after = stepsAfter(
      placed,
      planStep(placed, { type: 'condition' }, { kind: 'after', step: 'a' }, places).edits,
    );
    expect(byId(after, 'condition')?.position).toEqual({ x: 756, y: 116 });
    const between = stepsAfter(
      placed,
      planStep(placed, { type: 'condition' }, { kind: 'between', from: 'a', to: 'b' }, places).edits,
    );
    expect(between.map(({ id, position }) => [id, position])).toEqual([
      ['a', { x: 0, y: 0 }],
      ['condition', { x: 0, y: 104 }],
      ['b', { x: 0, y: 220 }],
      ['c', { x: 0, y: 324 }],
      ['d', { x: 400, y: 104 }],
    ]);
  });

  test('keeps its drop position, and the other steps keep theirs', () => {
    const places = placesOf(draft);
    const plan = planStep(draft, { type: 'lua_script' }, { kind: 'free', position: { x: 900, y: 50 } }, places);
    const after = applyAll(draft, plan.edits);
    expect(isPlaced(after)).toBe(true);
    expect(byId(after.graph.steps, 'lua_script')?.position).toEqual({ x: 900, y: 50 });
    expect(byId(after.graph.steps, 'yes')?.position).toEqual(places.get('yes'));
  });
});

test('dragging one step fixes the positions of the others', () => {
  const draft = draftOf(step('a'), step('b', 'a'));
  const places = placesOf(draft);
  const steps = stepsAfter(draft, planMoves(draft, new Map([['b', { x: 10.4, y: 500.6 }]]), places));
  expect(steps.map(({ position }) => position)).toEqual([places.get('a'), { x: 10, y: 501 }]);
});

test('removing a step connects its neighbors; toggling enables the steps if all are disabled', () => {
  const draft = draftOf(step('a'), step('b', 'a'), step('c', 'b'));
  expect(stepsAfter(draft, planRemoval(['b']))[1]).toMatchObject({ id: 'c', depends_on: ['a'] });
  const off = applyAll(draft, planDisabling(draft, ['a', 'b']));
  expect(off.graph.steps.map(({ disabled }) => disabled)).toEqual([true, true, undefined]);
  const on = stepsAfter(off, planDisabling(off, ['a', 'b']));
  expect(on).toEqual(draft.graph.steps);
});

test('a step after a condition can be moved to the other branch, or run in both cases', () => {
  const draft = draftOf(step('a'), check, step('yes', 'check'));
  const moved = stepsAfter(draft, planBranch('check', 'yes', 'else'))[1];
  expect(moved).toMatchObject({ else: ['yes'] });
  expect(moved).not.toHaveProperty('then');
  const either = stepsAfter(draft, planBranch('check', 'yes', null));
  expect(either[1]).not.toHaveProperty('then');
  expect(either[2]).toMatchObject({ depends_on: ['check'] });
});

describe('copies of steps', () => {
  const draft = draftOf(step('a'), check, step('yes', 'check'), step('end', 'yes'));

  test('are pasted under free ids, and refer to each other by these ids', () => {
    const copied = pastedSteps(copyText(draft, ['yes', 'end']));
    const plan = planPaste(draft, copied ?? []);
    expect(plan.added).toEqual(['yes_2', 'end_2']);
    const steps = stepsAfter(draft, plan.edits);
    expect(byId(steps, 'yes_2')).not.toHaveProperty('depends_on');
    expect(byId(steps, 'end_2')).toMatchObject({
      depends_on: ['yes_2'],
      script: 'return {{steps.yes_2.result}}',
    });
    expect(byId(steps, 'end')).toEqual(byId(draft.graph.steps, 'end'));
  });

  test('keep their ids in another workflow', () => {
    expect(planPaste(draftOf(), [step('yes'), step('end', 'yes')]).added).toEqual(['yes', 'end']);
  });

  test('run in both branches if the copied step does', () => {
    const both = draftOf(step('a'), { ...check, else: ['yes'] }, step('yes', 'check'));
    const steps = stepsAfter(both, planDuplicate(both, ['yes']).edits);
    expect(byId(steps, 'check')).toMatchObject({ then: ['yes', 'yes_2'], else: ['yes', 'yes_2'] });
  });

  test('are duplicated beside the copied steps', () => {
    const steps = stepsAfter(draft, planDuplicate(draft, ['yes', 'end']).edits);
    expect(byId(steps, 'check')).toMatchObject({ then: ['yes', 'yes_2'] });
    expect(byId(steps, 'yes_2')).toMatchObject({ depends_on: ['check'] });
    expect(byId(steps, 'end_2')).toMatchObject({ depends_on: ['yes_2'] });
  });

  test.each(['', 'hello', '[]', '{"steps": []}', '{"steps": [1]}', '{"id": "a"}', 'null'])(
    'are not created from %j',
    text => {
      expect(pastedSteps(text)).toBeNull();
    },
  );
});
