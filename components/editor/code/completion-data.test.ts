import { describe, expect, test } from 'vitest';
import type { Step } from '../../../server/domains/workflows/edits/index.ts';
import { completionData, exampleOf, merged } from './completion-data.ts';

describe('what the code of a step can read', () => {
  const steps: Step[] = [
    { id: 'fetch', type: 'http_request', name: 'Fetch the order' },
    {
      id: 'ask',
      type: 'human_task',
      form: { type: 'object', properties: { reason: { type: 'string' }, lines: { type: 'array', items: {} } } },
    },
    { id: 'own', type: 'lua_script' },
  ];

  test('is what the types of the steps and the last run say', () => {
    const run = { input: { from: 'run' }, results: new Map([['fetch', { body: { id: 7 } }]]) };
    const data = completionData(steps, ['ask', 'fetch', 'gone'], [{ sample: 1 }, null, undefined, 'text'], run);
    expect(data.input).toEqual({ sample: 1, from: 'run' });
    expect(data.steps.map(({ id, name }) => [id, name])).toEqual([
      ['ask', 'human_task'],
      ['fetch', 'Fetch the order'],
    ]);
    expect(data.steps[0]?.result).toEqual({
      reason: '',
      lines: [null],
      approved: true,
      completed_by: '',
      completed_at: '',
    });
    expect(data.steps[1]?.result).toEqual({ status: 200, headers: {}, body: { id: 7 } });
  });

  test('is known of a loop', () => {
    const [loop] = completionData([{ id: 'each', type: 'for_each' }], ['each'], [], null).steps;
    expect(loop?.result).toEqual({ results: [], failed: 0 });
  });

  test('is known without a run, too', () => {
    expect(completionData(steps, ['own'], [], null)).toEqual({
      input: {},
      steps: [{ id: 'own', name: 'lua_script', result: null }],
    });
  });
});

test('an example of a recursive schema ends', () => {
  const schema: { properties: Record<string, unknown> } = { properties: {} };
  schema.properties.child = schema;
  expect(JSON.stringify(exampleOf(schema)).length).toBeLessThan(200);
});

test('examples are joined key by key, also under names that objects inherit', () => {
  expect(merged({ a: { b: 1 } }, { a: { c: 2 } })).toEqual({ a: { b: 1, c: 2 } });
  expect(merged({ a: 1 }, null)).toEqual({ a: 1 });
  const joined = merged({}, JSON.parse('{"__proto__": 1}'));
  expect(Object.keys(joined as object)).toEqual(['__proto__']);
});
