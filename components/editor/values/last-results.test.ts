import { expect, test } from 'vitest';
import type { Json, JsonObject } from '@/server/platform/json.ts';
import { type LastValues, toRunValues, withOlder } from './last-results.ts';

const none: LastValues = { input: {}, results: new Map() };
const recorded = (run_id: string, steps: Record<string, { result: Json; status?: string; large?: true }>) => ({
  run: { run_id, started_at: `2026-01-0${run_id}T00:00:00Z`, ended_at: null, test: run_id === '2' },
  context: {
    input: (run_id === '2' ? {} : { of: run_id }) as JsonObject,
    steps: Object.fromEntries(
      Object.entries(steps).map(([id, { result, large }]) => [
        id,
        { result, ...(large && { result_ref: { payload_id: 'p', bytes: 9 } }) },
      ]),
    ),
  },
  summary: {
    steps: Object.entries(steps).map(([step_id, { status = 'completed' }]) => ({ step_id, status })),
  },
});

test('each step has its newest result from any run or test', () => {
  const newest = withOlder(none, recorded('2', { b: { result: 'new' }, a: { result: 'given', status: 'skipped' } }));
  const { input, results } = withOlder(newest, recorded('1', { a: { result: 'old' }, b: { result: 'old' } }));
  expect([...results].map(([id, { result, runId, isTest }]) => [id, result, runId, isTest])).toEqual([
    ['b', 'new', '2', true],
    ['a', 'old', '1', false],
  ]);
  expect(input).toEqual({ of: '1' });
});

test('pinned results have priority, and a result that is too large is unknown', () => {
  const values = withOlder(none, recorded('1', { a: { result: 1 }, b: { result: null, large: true } }));
  expect([...toRunValues(values, { a: 'pinned', c: [] }).results]).toEqual([
    ['a', 'pinned'],
    ['c', []],
  ]);
});
