import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../../../server/domains/workflows/edits/index.ts';
import { entryProblem, nameOfPath, readMap, writeMap } from './value-map.ts';

test('a table writes the object that it has read', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), value => {
      const map = readMap(value as Json);
      expect(map && writeMap(map)).toEqual(value);
    }),
  );
  expect(readMap(undefined)).toEqual([]);
  expect(writeMap([])).toBeUndefined();
  for (const other of ['{{input}}', [], 3, null]) expect(readMap(other)).toBeNull();
});

test('names are unique, and suggested from the picked value', () => {
  expect(entryProblem(' ', [])).toBe('Enter a name.');
  expect(entryProblem('a', ['a'])).toBe('Another value has this name.');
  expect(entryProblem('a', ['b'])).toBeNull();
  expect(nameOfPath(['steps', 'order', 'result', 'lines', 0])).toBe('lines');
  expect(nameOfPath(['steps', 'order', 'result'])).toBe('order');
  expect(nameOfPath(['input'])).toBe('input');
});
