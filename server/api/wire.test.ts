import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { AnyObject, Json } from './wire.ts';

describe('a JSON value', () => {
  test('is whatever z.json() takes, and stays as it is', () => {
    fc.assert(
      fc.property(fc.anything({ withDate: true, withMap: true, withNullPrototype: true, withBigInt: true }), value => {
        const ours = Json.safeParse(value);
        expect(ours.success).toBe(z.json().safeParse(value).success);
        if (ours.success) expect(ours.data).toBe(value);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    undefined,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1n,
    () => 1,
    Symbol('s'),
    new Date(),
    new Map(),
    { a: [{ b: undefined }] },
  ])('is not %s', value => {
    expect(Json.safeParse(value).success).toBe(false);
  });

  test('may be nested deeper than the stack', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(Json.safeParse(deep).success).toBe(true);
  });

  test('is demanded where it is a field', () => {
    expect(z.strictObject({ body: Json }).safeParse({}).success).toBe(false);
  });
});

test('an object of the caller keeps odd keys below its own, and is not one of another kind', () => {
  const odd = JSON.parse('{"a":{"__proto__":{"b":1},"constructor":2}}');
  expect(JSON.stringify(AnyObject.parse(odd))).toBe('{"a":{"__proto__":{"b":1},"constructor":2}}');
  for (const value of [[], null, 'text', new Date()]) expect(AnyObject.safeParse(value).success).toBe(false);
});
