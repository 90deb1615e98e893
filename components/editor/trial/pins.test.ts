import { expect, test } from 'vitest';
import { apply, type Draft, MAX_PINNED_RESULT_BYTES } from '../../../server/domains/workflows/edits/index.ts';
import { isPinnable, pinsOf, planPin, planUnpin } from './pins.ts';

const draft: Draft = { name: '', description: '', graph: { steps: [] }, run_setup: { trigger_payload: { n: 1 } } };
const after = (before: Draft, edit: ReturnType<typeof planPin>) => {
  const result = apply(before, edit);
  if (!result.ok) throw new Error(result.problem.message);
  return result.draft;
};

test('a result is pinned, replaced and unpinned, and the rest of the run setup is kept', () => {
  const one = after(draft, planPin(draft, 'a', null));
  const two = after(one, planPin(one, '__proto__', { x: 1 }));
  expect(Object.entries(pinsOf(two.run_setup))).toEqual([
    ['a', null],
    ['__proto__', { x: 1 }],
  ]);
  const other = after(two, planPin(two, 'a', 2));
  expect(pinsOf(other.run_setup).a).toBe(2);
  const less = after(other, planUnpin(other, '__proto__'));
  expect(less.run_setup).toEqual({ trigger_payload: { n: 1 }, pinned_results: { a: 2 } });
  expect(after(less, planUnpin(less, 'a')).run_setup).toEqual(draft.run_setup);
});

test('a result of 64 KiB can be pinned, but not a larger one', () => {
  expect(isPinnable('x'.repeat(MAX_PINNED_RESULT_BYTES - 2))).toBe(true);
  expect(isPinnable('x'.repeat(MAX_PINNED_RESULT_BYTES - 1))).toBe(false);
  expect(isPinnable('ü'.repeat(MAX_PINNED_RESULT_BYTES / 2))).toBe(false);
  expect(pinsOf({ pinned_results: [1] })).toEqual({});
});
