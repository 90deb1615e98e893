import { expect, test } from 'vitest';
import { type Draft, type Json, merge } from './index.ts';

const draftWithPins = (results: { [step: string]: Json } | undefined): Draft => ({
  name: 'n',
  description: '',
  graph: { steps: [] },
  run_setup: results === undefined ? {} : { pinned_results: results },
});

test('pinned results of different steps are merged', () => {
  const base = draftWithPins({ a: 1, b: 2 });
  const merged = merge(base, draftWithPins({ a: 1, b: 2, c: [3] }), draftWithPins({ b: 2, d: {} }));
  expect(merged).toEqual({ ok: true, draft: draftWithPins({ b: 2, d: {}, c: [3] }) });
  expect(merge(draftWithPins(undefined), draftWithPins({ a: 1 }), draftWithPins({ b: 1 }))).toEqual({
    ok: true,
    draft: draftWithPins({ b: 1, a: 1 }),
  });
});

test('two different results of one step are a conflict', () => {
  const merged = merge(draftWithPins({ a: 1 }), draftWithPins({ a: 2 }), draftWithPins({ a: 3, b: 1 }));
  expect(merged).toMatchObject({ ok: false, conflicts: [{ step: null, field: 'run_setup.pinned_results' }] });
  expect(
    merge(draftWithPins({ a: 1 }), draftWithPins({ a: 2 }), draftWithPins({ a: 3, b: 1 }), () => 'ours'),
  ).toMatchObject({
    draft: { run_setup: { pinned_results: { a: 2, b: 1 } } },
  });
});
