import { describe, expect, test } from 'vitest';
import { apply } from './apply.ts';
import type { Draft, Graph, Step } from './draft.ts';
import { extractWorkflow, inlineWorkflow } from './extract.ts';

const lua = (id: string, ...depends_on: string[]): Step => ({
  id,
  type: 'lua_script',
  script: 'return 1',
  ...(depends_on.length > 0 ? { depends_on } : {}),
});
const askStep = (id: string, instructions: string, ...depends_on: string[]): Step => ({
  id,
  type: 'human_task',
  instructions,
  ...(depends_on.length > 0 ? { depends_on } : {}),
});
const draftOf = (steps: readonly Step[], graph: object = {}): Draft => ({
  name: 'W',
  description: '',
  graph: { steps, ...graph },
  run_setup: {},
});
const CALL = { step: 'call_workflow', workflow: 'wf', name: 'Part' };
const extracted = (draft: Draft, ids: string[], around: string[] = []) => {
  const result = extractWorkflow(draft, ids, CALL, around);
  if (!result.ok) throw new Error(result.message);
  return result;
};
const inlined = (draft: Draft, graph: Graph, step = 'call_workflow') => {
  const result = inlineWorkflow(draft, step, { graph, reserved: [], depth: 0 });
  if (!result.ok) throw new Error(result.message);
  return result;
};
const refusal = (result: { ok: true } | { ok: false; message: string }) => (result.ok ? 'done' : result.message);

const order = draftOf(
  [
    lua('load'),
    {
      id: 'check',
      type: 'condition',
      expression: 'steps.load.result.total > input.limit',
      depends_on: ['load'],
      then: ['ask'],
    },
    askStep('ask', 'Approve {{steps.load.result.total}} for {{input.who ?? "someone"}}?', 'check'),
    askStep('end', 'Done: {{steps.ask.result.approved}}, {{steps.check.result.value}}', 'ask', 'check'),
  ],
  { output: { ok: '{{steps.ask.result.approved}}' } },
);

describe('extractWorkflow', () => {
  test('turns reads of outside steps into the input, and results that others read into the output', () => {
    const { draft, graph, edit } = extracted(order, ['check', 'ask']);
    expect(graph).toEqual({
      steps: [
        { id: 'check', type: 'condition', expression: 'input.load.total > input.limit', then: ['ask'] },
        askStep('ask', 'Approve {{input.load.total}} for {{input.who ?? "someone"}}?', 'check'),
      ],
      output: { ask: '{{steps.ask.result ?? null}}', check: '{{steps.check.result ?? null}}' },
    });
    expect(draft.graph.steps).toEqual([
      lua('load'),
      {
        id: 'call_workflow',
        type: 'call_workflow',
        name: 'Part',
        depends_on: ['load'],
        workflow_id: 'wf',
        input: { limit: '{{input.limit}}', who: '{{input.who ?? null}}', load: '{{steps.load.result}}' },
      },
      askStep(
        'end',
        'Done: {{steps.call_workflow.result.ask.approved}}, {{steps.call_workflow.result.check.value}}',
        'call_workflow',
      ),
    ]);
    expect(draft.graph.output).toEqual({ ok: '{{steps.call_workflow.result.ask.approved}}' });
    const applied = apply(order, edit);
    expect(applied.ok && applied.draft).toEqual(draft);
  });

  test('gives inputs unique names that expressions can read', () => {
    const draft = draftOf([
      lua('a-b'),
      lua('a'),
      askStep('x', '{{input.a}} {{steps.a.result}} {{steps.a-b.result}}', 'a', 'a-b'),
    ]);
    const { graph, draft: after } = extracted(draft, ['x']);
    expect(graph.steps[0]?.instructions).toBe('{{input.a}} {{input.a_2}} {{input.a_b}}');
    expect(after.graph.steps[2]?.input).toEqual({
      a: '{{input.a}}',
      a_2: '{{steps.a.result}}',
      a_b: '{{steps["a-b"].result}}',
    });
  });

  test.each<[string, Draft, string[], string[], string]>([
    ['a step between', draftOf([lua('a'), lua('b', 'a'), lua('c', 'b')]), ['a', 'c'], [], '“b” runs between'],
    ['the whole input', draftOf([askStep('a', '{{input}}')]), ['a'], [], 'reads the whole input'],
    [
      'a question for the input',
      draftOf([{ id: 'a', type: 'condition', expression: 'has(input.x)' }]),
      ['a'],
      [],
      'asks what it has',
    ],
    [
      'an error',
      draftOf([lua('a'), askStep('b', '{{steps.a.error.message}}', 'a')]),
      ['b'],
      [],
      'more of “a” than its result',
    ],
    [
      'an error by a step outside',
      draftOf([lua('a'), askStep('b', '{{steps.a.error.message}}', 'a')]),
      ['a'],
      [],
      'more of “a” than its result',
    ],
    [
      'results by a script in it',
      draftOf([lua('a'), { ...lua('b', 'a'), script: 'return steps.a.result' }]),
      ['b'],
      [],
      'The script of “b”',
    ],
    [
      'results by a script outside',
      draftOf([lua('a'), { ...lua('b', 'a'), script: 'return steps.a.result' }]),
      ['a'],
      [],
      'The script of “b”',
    ],
    ['the item of a loop', draftOf([askStep('a', '{{item.x}}')]), ['a'], ['load'], 'reads the item'],
    ['a step started by name', draftOf([{ ...lua('a'), gated: true }]), ['a'], [], 'started by name'],
  ])('refuses %s', (_, draft, ids, around, message) => {
    expect(refusal(extractWorkflow(draft, ids, CALL, around))).toContain(message);
  });

  test('passes results of steps around a loop as input', () => {
    const { draft, graph } = extracted(draftOf([askStep('a', '{{steps.load.result.x}}')]), ['a'], ['load']);
    expect(graph.steps[0]?.instructions).toBe('{{input.load.x}}');
    expect(draft.graph.steps[0]?.input).toEqual({ load: '{{steps.load.result}}' });
  });
});

describe('inlineWorkflow', () => {
  test('reverses extractWorkflow', () => {
    const { draft, graph } = extracted(order, ['check', 'ask']);
    const { draft: back, edit } = inlined(draft, graph);
    expect(back.graph.steps.map(({ id }) => id)).toEqual(['load', 'check', 'ask', 'end']);
    expect(back.graph.steps[1]).toEqual(order.graph.steps[1]);
    expect(back.graph.output).toEqual(order.graph.output);
    const [end, was] = [back.graph.steps[3], order.graph.steps[3]];
    expect(end?.instructions).toBe(was?.instructions);
    const applied = apply(draft, edit);
    expect(applied.ok && applied.draft).toEqual(back);
  });

  test('renames steps whose ids are taken, and replaces inputs by their values', () => {
    const graph: Graph = {
      steps: [lua('a'), askStep('b', '{{input.text}}', 'a'), askStep('c', '{{steps.b.result.x}}', 'b')],
      output: '{{steps.c.result}}',
    };
    const call: Step = {
      id: 'call',
      type: 'call_workflow',
      workflow_id: 'wf',
      input: { text: 'Hello' },
      depends_on: ['a'],
    };
    const draft = draftOf([lua('a'), call, askStep('d', '{{steps.call.result.y}}', 'call')]);
    expect(inlined(draft, graph, 'call').draft.graph.steps).toEqual([
      lua('a'),
      lua('a_2', 'a'),
      askStep('b', 'Hello', 'a_2'),
      askStep('c', '{{steps.b.result.x}}', 'b'),
      askStep('d', '{{steps.c.result.y}}', 'c'),
    ]);
  });

  const call = (fields: object): Step => ({ id: 'call', type: 'call_workflow', workflow_id: 'wf', ...fields });
  test.each<[string, Step, Graph, Step[], string]>([
    ['a call that is not waited for', call({ detach: true }), { steps: [lua('a')] }, [], 'does not wait'],
    ['a call that may fail', call({ on_error: 'continue' }), { steps: [lua('a')] }, [], 'goes on where'],
    ['a call that is tried again', call({ retry_count: 1 }), { steps: [lua('a')] }, [], 'starts the workflow again'],
    ['a call with a limit', call({ timeout_s: 5 }), { steps: [lua('a')] }, [], 'limits how long'],
    [
      'a workflow with a failure handler',
      call({}),
      { steps: [lua('a')], on_failure: { workflow_id: 'x' } },
      [],
      'starts another one',
    ],
    ['an empty workflow', call({}), { steps: [] }, [], 'has no steps'],
    ['a missing input', call({}), { steps: [askStep('a', '{{input.x}}')] }, [], 'does not hand over'],
    [
      'a value within a text',
      call({ input: { x: 'v' } }),
      { steps: [askStep('a', 'x {{input.x}}')] },
      [],
      'no plain reference',
    ],
    [
      'an input that a script reads',
      call({ input: { x: '{{input.y}}' } }),
      { steps: [{ ...lua('a'), script: 'return input.x' }] },
      [],
      'in its script',
    ],
    ['the whole input', call({ input: { x: 1 } }), { steps: [askStep('a', '{{input}}')] }, [], 'whole input'],
    [
      'an output that is composed',
      call({}),
      { steps: [lua('a')], output: { t: 'A {{steps.a.result}}' } },
      [askStep('d', '{{steps.call.result.t}}', 'call')],
      'not the result of one step',
    ],
    ['a gated step', call({}), { steps: [{ ...lua('a'), gated: true }] }, [], 'started by name'],
  ])('refuses %s', (_, step, graph, others, message) => {
    const result = inlineWorkflow(draftOf([step, ...others]), 'call', { graph, reserved: [], depth: 0 });
    expect(refusal(result)).toContain(message);
  });
});
