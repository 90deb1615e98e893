import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ByteCache, bytesInMemory } from './byte-cache.ts';

describe('a cache of 100 bytes', () => {
  test('keeps an entry of 50 bytes, and does not keep a larger one', () => {
    const cache = new ByteCache<number>(100);
    for (const bytes of [49, 50, 51]) cache.set(`of ${bytes}`, bytes, bytes);
    expect([49, 50, 51].map(bytes => cache.get(`of ${bytes}`))).toEqual([49, 50, undefined]);
  });

  test('is full at 100 bytes, and then drops the least recently used entry', () => {
    const cache = new ByteCache<string>(100);
    for (const key of ['a', 'b', 'c', 'd']) cache.set(key, key, 25);
    expect([cache.bytes, cache.size]).toEqual([100, 4]);
    cache.get('a');
    cache.set('e', 'e', 25);
    expect(['a', 'e'].map(key => cache.get(key))).toEqual(['a', 'e']);
    expect(cache.get('b')).toBeUndefined();
    expect(cache.bytes).toBeLessThanOrEqual(100);
  });

  test('counts an entry once, even if it is replaced by one of another size', () => {
    const cache = new ByteCache<number>(100);
    cache.set('a', 1, 40);
    cache.set('a', 2, 10);
    expect([cache.get('a'), cache.bytes]).toEqual([2, 10]);
    cache.set('a', 3, 60);
    expect([cache.get('a'), cache.bytes]).toEqual([undefined, 0]);
  });
});

test('the entries used last, up to half of the bytes, are kept, and the limit is never exceeded', () => {
  const uses = fc.array(fc.record({ key: fc.integer({ min: 0, max: 12 }), bytes: fc.integer({ min: 1, max: 60 }) }));
  fc.assert(
    fc.property(uses, list => {
      const cache = new ByteCache<number>(100);
      const sizes = new Map<number, number>();
      for (const { key, bytes } of list) {
        const size = sizes.get(key) ?? bytes;
        sizes.delete(key);
        sizes.set(key, size);
        if (cache.get(`${key}`) === undefined) cache.set(`${key}`, key, size);
        expect(cache.bytes).toBeLessThanOrEqual(100);
      }
      let recent = 0;
      for (const [key, size] of [...sizes].reverse()) {
        recent += size;
        if (recent > 50) break;
        expect(cache.get(`${key}`)).toBe(key);
      }
    }),
  );
});

test('the size of a value is about the total of its strings, keys and slots', () => {
  expect(bytesInMemory('x'.repeat(1_000))).toBe(2_016);
  expect(bytesInMemory([1, 2])).toBe(120);
  expect(bytesInMemory({ ab: null })).toBe(92);
  let deep: unknown = 1;
  for (let depth = 0; depth < 100_000; depth++) deep = [deep];
  expect(bytesInMemory(deep)).toBeGreaterThan(100_000);
});
