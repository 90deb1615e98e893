import { expect, test } from 'vitest';
import { type Draft, type Json, merge } from './index.ts';

const pinned = (results: { [step: string]: Json } | undefined): Draft => ({
  name: 'n',
  description: '',
  graph: { steps: [] },
  run_setup: results === undefined ? {} : { pinned_results: results },
});

test('pinned results of different steps are merged', () => {
  const base = pinned({ a: 1, b: 2 });
  const merged = merge(base, pinned({ a: 1, b: 2, c: [3] }), pinned({ b: 2, d: {} }));
  expect(merged).toEqual({ ok: true, draft: pinned({ b: 2, d: {}, c: [3] }) });
  expect(merge(pinned(undefined), pinned({ a: 1 }), pinned({ b: 1 }))).toEqual({
    ok: true,
    draft: pinned({ b: 1, a: 1 }),
  });
});

test('two different results of one step are a conflict', () => {
  const merged = merge(pinned({ a: 1 }), pinned({ a: 2 }), pinned({ a: 3, b: 1 }));
  expect(merged).toMatchObject({ ok: false, conflicts: [{ step: null, field: 'run_setup.pinned_results' }] });
  expect(merge(pinned({ a: 1 }), pinned({ a: 2 }), pinned({ a: 3, b: 1 }), () => 'ours')).toMatchObject({
    draft: { run_setup: { pinned_results: { a: 2, b: 1 } } },
  });
});
