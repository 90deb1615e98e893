import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import { cutPage, decodeCursor, encodeCursor, TimeIdKey } from './cursor.ts';

describe('cursor', () => {
  it('is decoded to the parts that were encoded', () => {
    const key: TimeIdKey = [Date.UTC(2026, 0, 1), newId()];
    expect(decodeCursor(TimeIdKey, encodeCursor(key))).toEqual(key);
    expect(decodeCursor(TimeIdKey, undefined)).toBeNull();
  });

  it('answers 422 to anything else', () => {
    const others = [
      encodeCursor([1]),
      encodeCursor(['x', newId()]),
      encodeCursor([1, 'x']),
      encodeCursor([1, newId(), 2]),
    ];
    for (const cursor of [...others, 'null', '%%%', '']) {
      expect(() => decodeCursor(TimeIdKey, cursor)).toThrow(expect.objectContaining({ status: 422 }));
    }
    fc.assert(
      fc.property(fc.string(), cursor => {
        try {
          decodeCursor(TimeIdKey, cursor);
        } catch (error) {
          expect(error).toBeInstanceOf(AppError);
        }
      }),
    );
  });

  it('cuts the extra row off and points at the last kept one', () => {
    expect(cutPage([1, 2, 3], 3, n => [n])).toEqual({ rows: [1, 2, 3], next_cursor: null });
    expect(cutPage([1, 2, 3], 2, n => [n])).toEqual({ rows: [1, 2], next_cursor: encodeCursor([2]) });
    expect(cutPage([], 2, () => [])).toEqual({ rows: [], next_cursor: null });
  });
});
