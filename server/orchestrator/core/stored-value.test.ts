import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_BYTES_PER_JSON_BYTE, sizeOf } from './stored-value.ts';

test('no value takes more memory than the limit for its JSON text', () => {
  const nested = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
  for (const value of [[], {}, 1, '', null, nested(1), nested(200), Array(1_000).fill([]), Array(1_000).fill({})])
    expect(sizeOf(value)).toBeLessThanOrEqual(MAX_BYTES_PER_JSON_BYTE * JSON.stringify(value).length);
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), value => {
      expect(sizeOf(value as never)).toBeLessThanOrEqual(
        MAX_BYTES_PER_JSON_BYTE * Buffer.byteLength(JSON.stringify(value)),
      );
    }),
  );
  // The limit is not larger than necessary.
  expect(sizeOf(nested(200))).toBeGreaterThan((MAX_BYTES_PER_JSON_BYTE - 1) * 400);
});
