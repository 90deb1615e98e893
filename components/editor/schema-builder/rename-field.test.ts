import { expect, test } from 'vitest';
import { apply, type Draft, type Graph, type Step } from '../../../server/domains/workflows/edits/index.ts';
import { readForm } from './form-model.ts';
import { planFieldRename, renamedField, scriptsReading } from './rename-field.ts';

const ask: Step = { id: 'ask', type: 'human_task' };
const renamed = { from: 'reason', to: 'why' };
const after = (graph: Graph, owner: Parameters<typeof planFieldRename>[1] = { step: 'ask' }): Graph => {
  let draft: Draft = { name: '', description: '', graph, run_setup: {} };
  for (const edit of planFieldRename(graph, owner, renamed)) {
    const result = apply(draft, edit);
    if (!result.ok) throw new Error(result.problem.message);
    draft = result.draft;
  }
  return draft.graph;
};

test.each([
  ['{{steps.ask.result.reason}}', '{{steps.ask.result.why}}'],
  ['a {{ steps["ask"].result["reason"].x ?? input.reason }} b', 'a {{ steps["ask"].result.why.x ?? input.reason }} b'],
  ['{{steps.ask.result.reason ?? "steps.ask.result.reason"}}', '{{steps.ask.result.why ?? "steps.ask.result.reason"}}'],
  ['{{steps.ask.result.reasons}} {{steps.asks.result.reason}} {{x.steps.ask.result.reason}}', null],
  ['steps.ask.result.reason, outside of a template', null],
  ['{{steps.ask.result.reason', null],
  ['{{steps.ask.error.reason}} {{steps.ask.result.reason-2}}', null],
])('a template: %s', (text, expected) => {
  const next = after({ steps: [ask, { id: 'b', type: 'llm_call', prompt: text, deep: [{ x: text }] }] });
  expect(next.steps[1]).toEqual({
    id: 'b',
    type: 'llm_call',
    prompt: expected ?? text,
    deep: [{ x: expected ?? text }],
  });
});

test('expressions, steps of loops and fields of the graph are renamed, and quoted texts in them are not', () => {
  const graph: Graph = {
    steps: [
      ask,
      {
        id: 'c',
        type: 'condition',
        expression: 'steps.ask.result.reason == "steps.ask.result.reason" // steps.ask.result.reason',
      },
      {
        id: 'each',
        type: 'for_each',
        items: 'steps.ask.result.reason',
        steps: [{ id: 'in', type: 'condition', expression: 'item in steps.ask.result.reason' }],
      },
    ],
    output: { a: '{{steps.ask.result.reason}}' },
    searchable: { b: '{{steps.ask.result.reason}}', c: '{{input.reason}}' },
  };
  expect(after(graph)).toEqual({
    steps: [
      ask,
      {
        id: 'c',
        type: 'condition',
        expression: 'steps.ask.result.why == "steps.ask.result.reason" // steps.ask.result.reason',
      },
      {
        id: 'each',
        type: 'for_each',
        items: 'steps.ask.result.why',
        steps: [{ id: 'in', type: 'condition', expression: 'item in steps.ask.result.why' }],
      },
    ],
    output: { a: '{{steps.ask.result.why}}' },
    searchable: { b: '{{steps.ask.result.why}}', c: '{{input.reason}}' },
  });
  expect(after(graph, 'input').searchable).toEqual({ b: '{{steps.ask.result.reason}}', c: '{{input.why}}' });
});

test('a script that reads the field is reported, not changed', () => {
  const script = (id: string, text: string): Step => ({ id, type: 'lua_script', script: text });
  const steps = [
    script('reads', 'return steps.ask.result.reason'),
    script('template', 'return {{steps.ask.result.reason}}'),
    script('comment', '-- steps.ask.result.reason'),
    { id: 'each', type: 'for_each', steps: [script('in', 'return steps["ask"].result.reason')] } as unknown as Step,
  ];
  expect(scriptsReading({ steps }, { step: 'ask' }, renamed)).toEqual(['reads', 'each']);
});

test('a rename is detected only if no field was added, removed or moved', () => {
  const form = (...names: string[]) => {
    const read = readForm({ type: 'object', properties: Object.fromEntries(names.map(name => [name, {}])) });
    if (read === null) throw new Error('no form');
    return read;
  };
  expect(renamedField(form('a', 'b'), form('a', 'c'))).toEqual({ from: 'b', to: 'c' });
  for (const other of [form('a', 'b'), form('b', 'a'), form('a'), form('a', 'b', 'c'), form('c', 'd')])
    expect(renamedField(form('a', 'b'), other)).toBeNull();
});

test('a long text is read quickly', () => {
  const text = '{{'.repeat(50_000) + 'steps.ask.result["'.repeat(5_000);
  const begun = performance.now();
  after({ steps: [ask, { id: 'b', type: 'llm_call', prompt: text }] });
  after({ steps: [ask, { id: 'c', type: 'condition', expression: text.replaceAll('{', ' ') }] });
  expect(performance.now() - begun).toBeLessThan(2_000);
});
