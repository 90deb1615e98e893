import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cleanJson } from './clean-json.ts';
import type { Json } from './json.ts';
import { parseJson } from './json-text.ts';
import { storageProblem } from './storable-json.ts';

test('NUL and half surrogate pairs are replaced, also in keys', () => {
  expect(cleanJson({ 'k\0': ['a\0b', '\ud83d', { deep: '\ude00x' }], n: 1, fine: '😀' })).toEqual({
    'k\ufffd': ['a\ufffdb', '\ufffd', { deep: '\ufffdx' }],
    n: 1,
    fine: '😀',
  });
});

test('a value that can be stored is returned unchanged', () => {
  const value = { a: [1, 'é😀', null, { '': true }] };
  expect(cleanJson(value)).toBe(value);
});

test('the result can be stored, and deep nesting cannot exhaust the stack', () => {
  fc.assert(
    fc.property(fc.json({ stringUnit: 'binary', maxDepth: 3 }), text => {
      expect(storageProblem(cleanJson(parseJson(text)))).toBeNull();
    }),
  );
  let deep: Json = 'x\0';
  for (let n = 0; n < 200_000; n++) deep = [deep];
  expect(storageProblem(cleanJson(deep))).not.toBeNull();
});
