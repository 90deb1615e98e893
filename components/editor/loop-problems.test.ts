import { expect, test } from 'vitest';
import type { Step } from '../../server/domains/workflows/edits/index.ts';
import { isInLoop, placeInLoop, problemsInside } from './loop-problems.ts';

const loop: Step = {
  id: 'each',
  type: 'for_each',
  steps: [
    { id: 'ask', type: 'human_task' },
    { id: 'inner', type: 'for_each', steps: [null, { id: 'last', type: 'lua_script' }] },
  ],
};

test('the place of a problem in a loop consists of step ids', () => {
  expect(placeInLoop(loop, 'steps[0].form.properties')).toBe('ask › form.properties');
  expect(placeInLoop(loop, 'steps[1].steps[1].script')).toBe('inner › last › script');
  expect(placeInLoop(loop, 'steps[1].items')).toBe('inner › items');
  expect(placeInLoop(loop, 'steps[1]')).toBe('inner');
});

test('a step without an id is named by its number', () => {
  expect(placeInLoop(loop, 'steps[1].steps[0]')).toBe('inner › step 1');
  expect(placeInLoop(loop, 'steps[7].type')).toBe('step 8 › type');
  expect(placeInLoop(undefined, 'steps[0].type')).toBe('step 1 › type');
});

test('problems of the loop itself are not included', () => {
  expect(isInLoop({ path: 'steps[0].script' })).toBe(true);
  expect(isInLoop({ path: 'steps' })).toBe(false);
  expect(isInLoop({ path: 'items' })).toBe(false);
});

test('problems in a loop become problems of its steps', () => {
  const problem = (step_id: string, path: string) => ({
    step_id,
    path,
    code: 'c',
    message: 'm',
    severity: 'error' as const,
  });
  const problems = [
    problem('each', 'steps[0].form'),
    problem('each', 'steps[1].items'),
    problem('each', 'items'),
    problem('other', 'steps[0].form'),
  ];
  const inside = (...path: string[]) => problemsInside(problems, [loop], path).map(each => [each.step_id, each.path]);
  expect(inside('each')).toEqual([
    ['ask', 'form'],
    ['inner', 'items'],
  ]);
  expect(problemsInside(problems, [loop], [])).toEqual(problems);
  // A loop whose `steps` is not a list of steps cannot be opened.
  expect(inside('each', 'inner')).toEqual([]);
});
