import { describe, expect, test } from 'vitest';
import type { JsonObject } from '@/server/platform/json.ts';
import type { Step } from '../../../server/domains/workflows/edits/index.ts';
import { levelsOf, outcomeOf, readItem, readResults, resultsOf, stepsBefore } from './step-test-data.ts';

const edge = (from: string, to: string) => ({ id: `${from}→${to}`, from, to, branch: null });
const edges = [edge('a', 'b'), edge('b', 'c'), edge('x', 'c'), edge('c', 'd')];

test('the steps before a step are found, nearest first, also if the draft has a cycle', () => {
  expect(stepsBefore(edges, 'c')).toEqual(['b', 'x', 'a']);
  expect(stepsBefore(edges, 'a')).toEqual([]);
  expect(stepsBefore([...edges, edge('d', 'a')], 'c')).toEqual(['b', 'x', 'a', 'd']);
});

test('a step in a loop has the steps before it in the loop and before the loop', () => {
  const inner: Step[] = [
    { id: 'price', type: 'lua_script' },
    { id: 'sum', type: 'lua_script', depends_on: ['price'] },
  ];
  const steps: Step[] = [
    { id: 'orders', type: 'lua_script' },
    { id: 'each', type: 'for_each', depends_on: ['orders'], steps: inner },
  ];
  const levels = levelsOf(steps, ['each', 'sum']);
  expect(levels.map(({ id }) => id)).toEqual(['sum', 'each']);
  expect(levels.flatMap(level => stepsBefore(level.edges, level.id))).toEqual(['price', 'orders']);
  expect(levelsOf(steps, ['gone', 'sum']).flatMap(level => stepsBefore(level.edges, level.id))).toEqual([]);
});

test('an item is any JSON', () => {
  expect([' ', 'null', '[1]', '"a"'].map(readItem)).toEqual([
    { item: null },
    { item: null },
    { item: [1] },
    { item: 'a' },
  ]);
  expect(readItem('{')).toHaveProperty('problem');
});

test('only results of earlier steps are taken from a run, and large results are listed', () => {
  const steps = {
    a: { result: { n: 1 } },
    b: { result: null, result_ref: { payload_id: 'p', bytes: 9_000_000 } },
    d: { result: 4 },
  };
  expect(resultsOf({ steps }, ['b', 'x', 'a'])).toEqual({ results: { a: { n: 1 } }, tooLarge: ['b'] });
});

describe('typed results', () => {
  test('are an object keyed by the ids of earlier steps', () => {
    expect(readResults('{"a": 1}', ['a'])).toEqual({ results: { a: 1 } });
    expect(readResults(' ', ['a'])).toEqual({ results: {} });
  });
  test.each(['[1]', '{"z": 1}', '{"a"'])('%s is a problem', text => {
    expect(readResults(text, ['a'])).toHaveProperty('problem');
  });
});

test('the last result and every line of the log are returned', () => {
  const event = (event_type: string, data: JsonObject) => ({
    seq: 1,
    event_type,
    run_id: 'r',
    workflow_id: 'w',
    data,
    created_at: '2026-01-01T00:00:00.000Z',
  });
  const events = [
    event('step_log', { lines: ['one', 'two'] }),
    event('step_completed', { result: { n: 1 } }),
    event('step_log', { lines: ['three'] }),
  ];
  expect(outcomeOf(events)).toEqual({ result: { n: 1 }, resultRef: null, logs: ['one', 'two', 'three'] });
  const large = [event('step_completed', { result_ref: { payload_id: 'p', bytes: 20_000 } })];
  expect(outcomeOf(large).resultRef).toEqual({ payload_id: 'p', bytes: 20_000 });
  expect(outcomeOf([])).toEqual({ result: undefined, resultRef: null, logs: [] });
});
