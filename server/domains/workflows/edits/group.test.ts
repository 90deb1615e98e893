import { describe, expect, test } from 'vitest';
import { apply } from './apply.ts';
import type { Draft, Step } from './draft.ts';
import { dissolveLoop, groupIntoLoop } from './group.ts';

const lua = (id: string, ...depends_on: string[]): Step => ({
  id,
  type: 'lua_script',
  script: 'return 1',
  ...(depends_on.length > 0 ? { depends_on } : {}),
});
const draftOf = (steps: readonly Step[], graph: object = {}): Draft => ({
  name: 'W',
  description: '',
  graph: { steps, ...graph },
  run_setup: {},
});
const graphOrThrow = (result: ReturnType<typeof groupIntoLoop>) => {
  if (!result.ok) throw new Error(result.message);
  return result;
};
const refusal = (result: ReturnType<typeof groupIntoLoop>) => (result.ok ? 'done' : result.message);

describe('groupIntoLoop', () => {
  const http = (id: string, url: string, ...depends_on: string[]): Step => ({
    id,
    type: 'http_request',
    url,
    depends_on,
  });

  test('replaces the steps by the loop, and keeps the connections between the steps', () => {
    const draft = draftOf([lua('a'), lua('b', 'a'), lua('c', 'b', 'a'), lua('d', 'c')]);
    const { edit, draft: after } = graphOrThrow(groupIntoLoop(draft, ['b', 'c'], 'loop'));
    expect(after.graph.steps).toEqual([
      lua('a'),
      { id: 'loop', type: 'for_each', depends_on: ['a'], items: '[1]', steps: [lua('b'), lua('c', 'b')] },
      lua('d', 'loop'),
    ]);
    const applied = apply(draft, edit);
    if (!applied.ok) throw new Error(applied.problem.message);
    expect(applied.draft).toEqual(after);
    const undone = apply(applied.draft, applied.inverse);
    expect(undone.ok && undone.draft).toEqual(draft);
  });

  test('redirects readers in texts, expressions and the output to the result of the first item', () => {
    const check: Step = {
      id: 'c',
      type: 'condition',
      expression: 'steps["b"].result.n > 1 && "steps.b" != ""',
      depends_on: ['b'],
    };
    const draft = draftOf(
      [lua('a'), lua('b', 'a'), check, http('d', 'https://x.y/{{ steps.b.result.id ?? 1 }}', 'b')],
      {
        output: { n: '{{steps.b.result}}' },
      },
    );
    const { graph } = graphOrThrow(groupIntoLoop(draft, ['a', 'b'], 'loop')).draft;
    expect(graph.steps[1]?.expression).toBe('steps.loop.result.results[0].n > 1 && "steps.b" != ""');
    expect(graph.steps[2]?.url).toBe('https://x.y/{{ steps.loop.result.results[0].id ?? 1 }}');
    expect(graph.output).toEqual({ n: '{{steps.loop.result.results[0]}}' });
    const two = graphOrThrow(
      groupIntoLoop(draftOf([lua('a'), lua('b-1'), http('d', '{{steps.b-1.result}}', 'b-1')]), ['a', 'b-1'], 'loop'),
    );
    expect(two.draft.graph.steps[1]?.url).toBe('{{steps.loop.result.results[0]["b-1"]}}');
  });

  test('replaces its first steps in a branch', () => {
    const choice: Step = { id: 'if', type: 'condition', expression: 'true', then: ['a'], else: ['z'] };
    const draft = draftOf([choice, lua('a', 'if'), lua('b', 'a'), lua('z', 'if')]);
    const { steps } = graphOrThrow(groupIntoLoop(draft, ['a', 'b'], 'loop')).draft.graph;
    expect(steps[0]).toEqual({ ...choice, then: ['loop'] });
    expect(refusal(groupIntoLoop(draft, ['a', 'z'], 'loop'))).toContain('some of the selected steps only');
    expect(refusal(groupIntoLoop(draft, ['if', 'z'], 'loop'))).toBe(
      'A branch of “if” leads to “a”. Select both or neither.',
    );
  });

  test.each<[string, Draft, string[], string]>([
    ['a step between', draftOf([lua('a'), lua('b', 'a'), lua('c', 'b')]), ['a', 'c'], '“b” runs between'],
    [
      'a result that is not the last',
      draftOf([lua('a'), lua('b', 'a'), http('c', '{{steps.a.result}}', 'a')]),
      ['a', 'b'],
      'not the last',
    ],
    [
      'a script outside',
      draftOf([lua('a'), { ...lua('c', 'a'), script: 'return steps.a.result' }]),
      ['a'],
      'The script of “c”',
    ],
    ['a step started by name', draftOf([{ ...lua('a'), gated: true }]), ['a'], 'only when started by name'],
    ['a field open at start', draftOf([{ ...lua('a'), overridable: ['script'] }]), ['a'], 'can be changed at start'],
    ['an override', { ...draftOf([lua('a')]), run_setup: { trigger_steps: { a: {} } } }, ['a'], 'The settings of runs'],
    [
      'a step read as a whole',
      draftOf([lua('a'), { ...lua('c', 'a'), type: 'condition', expression: 'has(steps.a)' }]),
      ['a'],
      'more of “a” than its result',
    ],
    ['nothing', draftOf([lua('a')]), [], 'Select the steps'],
  ])('refuses %s', (_, draft, ids, message) => {
    expect(refusal(groupIntoLoop(draft, ids, 'loop'))).toContain(message);
  });

  test('in a loop keeps the item, and refuses a third level and steps that read the index', () => {
    const steps = [{ ...lua('a'), script: 'return item' }, lua('b', 'a')];
    expect(graphOrThrow(groupIntoLoop(draftOf(steps), ['a'], 'loop', 1)).draft.graph.steps[0]?.items).toBe('[item]');
    expect(refusal(groupIntoLoop(draftOf(steps), ['a'], 'loop', 2))).toContain('at most 2 loops');
    const loop: Step = { id: 'l', type: 'for_each', items: '[1]', steps: [lua('x') as never] };
    expect(refusal(groupIntoLoop(draftOf([loop]), ['l'], 'loop', 1))).toContain('at most 2 loops');
    expect(refusal(groupIntoLoop(draftOf([{ ...lua('a'), script: 'return index' }]), ['a'], 'loop', 1))).toContain(
      'index',
    );
  });

  test('is placed in the middle of its steps', () => {
    const placed = draftOf([
      { ...lua('a'), position: { x: 0, y: 100 } },
      { ...lua('b', 'a'), position: { x: 300, y: 300 } },
    ]);
    expect(graphOrThrow(groupIntoLoop(placed, ['a', 'b'], 'loop')).draft.graph.steps[0]?.position).toEqual({
      x: 150,
      y: 100,
    });
  });
});

describe('dissolveLoop', () => {
  test('reverses groupIntoLoop', () => {
    const choice: Step = { id: 'if', type: 'condition', expression: 'true', then: ['a'] };
    const end: Step = { id: 'd', type: 'human_task', instructions: '{{steps.b.result.x}}', depends_on: ['b'] };
    const draft = draftOf([choice, lua('a', 'if'), lua('b', 'a'), end], { output: '{{steps.b.result}}' });
    const { draft: grouped } = graphOrThrow(groupIntoLoop(draft, ['a', 'b'], 'loop'));
    expect(graphOrThrow(dissolveLoop(grouped, 'loop')).draft).toEqual(draft);
  });

  test('redirects to the right one of several last steps', () => {
    const end: Step = {
      id: 'd',
      type: 'human_task',
      instructions: '{{steps.a.result}} {{steps.ab.result.x}} {{steps.b-1.result}}',
      depends_on: ['a', 'ab', 'b-1'],
    };
    const draft = draftOf([lua('a'), lua('ab'), lua('b-1'), end]);
    const { draft: grouped } = graphOrThrow(groupIntoLoop(draft, ['a', 'ab', 'b-1'], 'loop'));
    const { draft: after } = graphOrThrow(dissolveLoop(grouped, 'loop'));
    expect(after.graph.steps[3]?.instructions).toBe('{{steps.a.result}} {{steps.ab.result.x}} {{steps["b-1"].result}}');
  });

  test.each<[string, Step, Step[], string]>([
    ['the item', { ...lua('x'), script: 'return item' }, [], 'reads the item'],
    ['the number of an item', { id: 'x', type: 'human_task', instructions: '{{ index }}' }, [], 'reads the item'],
    [
      'all results',
      lua('x'),
      [{ id: 'd', type: 'human_task', instructions: '{{steps.loop.result.results}}', depends_on: ['loop'] }],
      'the list of all results',
    ],
    [
      'how many failed',
      lua('x'),
      [{ id: 'd', type: 'human_task', instructions: '{{steps.loop.result.failed}}', depends_on: ['loop'] }],
      'the list of all results',
    ],
    [
      'results by a script',
      lua('x'),
      [{ ...lua('d', 'loop'), script: 'return steps.loop.result' }],
      'The script of “d”',
    ],
    ['an ID that is taken', lua('x'), [lua('x')], 'the ID “x”'],
  ])('refuses %s', (_, inner, others, message) => {
    const loop: Step = { id: 'loop', type: 'for_each', items: '[1, 2]', steps: [inner as never] };
    expect(refusal(dissolveLoop(draftOf([loop, ...others]), 'loop'))).toContain(message);
  });

  test('keeps steps that read the item of the outer loop', () => {
    const steps = [{ ...lua('a'), script: 'return item' }];
    const { draft } = graphOrThrow(groupIntoLoop(draftOf(steps), ['a'], 'loop', 1));
    expect(graphOrThrow(dissolveLoop(draft, 'loop', 1)).draft.graph.steps).toEqual(steps);
  });
});
