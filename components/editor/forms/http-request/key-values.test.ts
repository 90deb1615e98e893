import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cellText, mapOf, newRow, rowsOf, sameMap } from './key-values.ts';

const flat = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
const map = fc.dictionary(fc.string({ minLength: 1 }), fc.oneof(flat, fc.array(flat, { minLength: 2, maxLength: 3 })), {
  minKeys: 1,
  noNullPrototype: true,
});

test('a table writes the map that it has read', () => {
  fc.assert(
    fc.property(map, each => {
      expect(mapOf(rowsOf(each) ?? [])).toEqual(each);
    }),
  );
  expect(mapOf(rowsOf(undefined) ?? [])).toBeUndefined();
  expect(mapOf(rowsOf(JSON.parse('{"__proto__": "x"}')) ?? [])).toEqual(JSON.parse('{"__proto__": "x"}'));
});

test('a table refuses values that it cannot show', () => {
  for (const other of ['text', [1], null, { a: { b: 1 } }, { a: [[1]] }]) expect(rowsOf(other)).toBeNull();
});

test('lines without a name are left out of the map, and cells show values as text', () => {
  const rows = [newRow('a', 1), newRow('', 'typed first'), newRow('a', '2'), newRow('b')];
  expect(mapOf(rows)).toEqual({ a: [1, '2'], b: '' });
  expect(sameMap(rows, [newRow('a', 1), newRow('a', '2'), newRow('b')])).toBe(true);
  expect(sameMap(rows, [newRow('b')])).toBe(false);
  expect([null, 5, 'x', true].map(cellText)).toEqual(['null', '5', 'x', 'true']);
});
