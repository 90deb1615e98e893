import { describe, expect, test } from 'vitest';
import type { Step } from '../../../server/domains/workflows/edits/index.ts';
import { completionData, exampleOf, exampleOfOutput, mergeExamples } from './completion-data.ts';

describe('the data that the code of a step can read', () => {
  const steps: Step[] = [
    { id: 'fetch', type: 'http_request', name: 'Fetch the order' },
    {
      id: 'ask',
      type: 'human_task',
      form: { type: 'object', properties: { reason: { type: 'string' }, lines: { type: 'array', items: {} } } },
    },
    { id: 'own', type: 'lua_script' },
  ];

  const nothing = { inputs: [], run: null, outputs: new Map() };
  const following = (...ids: string[]) => ({ before: steps.filter(({ id }) => ids.includes(id)), loops: [] });

  test('combines the types of the steps and the last run', () => {
    const run = { input: { from: 'run' }, results: new Map([['fetch', { body: { id: 7 } }]]) };
    const inputs = [{ sample: 1 }, null, undefined, 'text'];
    const data = completionData(following('fetch', 'ask'), { ...nothing, inputs, run });
    expect(data.input).toEqual({ sample: 1, from: 'run' });
    expect(data.steps.map(({ id, name }) => [id, name])).toEqual([
      ['fetch', 'Fetch the order'],
      ['ask', 'human_task'],
    ]);
    expect(data.steps[1]?.result).toEqual({
      reason: '',
      lines: [null],
      approved: true,
      completed_by: '',
      completed_at: '',
    });
    expect(data.steps[0]?.result).toEqual({ status: 200, headers: {}, body: { id: 7 } });
  });

  test('contains the result of a loop', () => {
    const [loop] = completionData({ before: [{ id: 'each', type: 'for_each' }], loops: [] }, nothing).steps;
    expect(loop?.result).toEqual({ results: [], failed: 0 });
  });

  test('is known without a run', () => {
    expect(completionData(following('own'), nothing)).toEqual({
      input: {},
      steps: [{ id: 'own', name: 'lua_script', result: null }],
      loop: null,
    });
  });

  test('contains the output of the called workflow, or the id of its run', () => {
    const called: Step = { id: 'call', type: 'call_workflow' };
    const outputs = new Map([['call', exampleOfOutput({ total: '{{steps.a.result}}', by: { name: 'x' } })]]);
    const resultOf = (step: Step) =>
      completionData({ before: [step], loops: [] }, { ...nothing, outputs }).steps[0]?.result;
    expect(resultOf(called)).toEqual({ total: null, by: { name: null } });
    expect(resultOf({ ...called, id: 'start', detach: true })).toEqual({ run_id: '' });
  });
});

describe('the item of a loop', () => {
  const inputs = [{ orders: [{ sku: 'a', lines: [{ qty: 1 }] }, { note: 'b' }] }];
  const run = { input: {}, results: new Map([['list', [{ id: 7 }]]]) };
  const itemIn = (...items: string[]) =>
    completionData(
      {
        before: [{ id: 'list', type: 'lua_script' }],
        loops: items.map(each => ({ id: 'l', type: 'for_each', items: each })),
      },
      { inputs, run, outputs: new Map() },
    ).loop;

  test('has the keys of the items at a path, also in the loops around it', () => {
    expect(itemIn('{{input.orders}}')).toEqual({ item: { sku: 'a', lines: [{ qty: 1 }], note: 'b' } });
    expect(itemIn('{{ input.orders ?? [] }}')).toEqual(itemIn('input.orders'));
    expect(itemIn('{{steps.list.result}}')).toEqual({ item: { id: 7 } });
    expect(itemIn('{{input.orders}}', '{{item.lines}}')).toEqual({ item: { qty: 1 } });
  });

  test('is present but unknown if an expression computes it', () => {
    expect(itemIn('input.orders.filter(o, o.sku == "a")')).toEqual({ item: null });
    expect(itemIn('{{input.gone}}')).toEqual({ item: null });
    expect(itemIn()).toBeNull();
  });
});

test('an example of a recursive schema is finite', () => {
  const schema: { properties: Record<string, unknown> } = { properties: {} };
  schema.properties.child = schema;
  expect(JSON.stringify(exampleOf(schema)).length).toBeLessThan(200);
});

test('examples are merged key by key, also under names that objects inherit', () => {
  expect(mergeExamples({ a: { b: 1 } }, { a: { c: 2 } })).toEqual({ a: { b: 1, c: 2 } });
  expect(mergeExamples({ a: 1 }, null)).toEqual({ a: 1 });
  const joined = mergeExamples({}, JSON.parse('{"__proto__": 1}'));
  expect(Object.keys(joined as object)).toEqual(['__proto__']);
});
