import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { JsonValueSchema } from '../platform/zod-json.ts';
import { AnyObject, asSent, ObjectOfObjects } from './wire.ts';

/** z.json() with large integers (docs/adr/0024). */
const Model: z.ZodType = z.lazy(() =>
  z.union([z.string(), z.number(), z.bigint(), z.boolean(), z.null(), z.array(Model), z.record(z.string(), Model)]),
);

describe('a JSON value', () => {
  test('is accepted if z.json() accepts it or it has large integers, and is unchanged', () => {
    fc.assert(
      fc.property(fc.anything({ withDate: true, withMap: true, withNullPrototype: true, withBigInt: true }), value => {
        const ours = JsonValueSchema.safeParse(value);
        expect(ours.success).toBe(Model.safeParse(value).success);
        if (ours.success) expect(ours.data).toBe(value);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    undefined,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    () => 1,
    Symbol('s'),
    new Date(),
    new Map(),
    { a: [{ b: undefined }] },
  ])('is not %s', value => {
    expect(JsonValueSchema.safeParse(value).success).toBe(false);
  });

  test('may be nested deeper than the stack', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(JsonValueSchema.safeParse(deep).success).toBe(true);
  });

  test('is required if it is a field', () => {
    expect(z.strictObject({ body: JsonValueSchema }).safeParse({}).success).toBe(false);
  });
});

test('an object of the caller keeps unusual keys, and other kinds of values are refused', () => {
  const odd = '{"a":{"__proto__":{"b":1},"constructor":2},"__proto__":{"c":{"__proto__":3}}}';
  expect(JSON.stringify(AnyObject.parse(JSON.parse(odd)))).toBe(odd);
  expect(JSON.stringify(ObjectOfObjects.parse(JSON.parse(odd)))).toBe(odd);
  for (const value of [[], null, 'text', new Date()]) expect(AnyObject.safeParse(value).success).toBe(false);
});

test('every value of an object of objects must be an object, under any key', () => {
  const { error } = ObjectOfObjects.safeParse(JSON.parse('{"a":1,"b":{},"__proto__":[]}'));
  expect(error?.issues.map(issue => issue.path.join('.'))).toEqual(['a', '__proto__']);
});

test('a value that is checked as it was sent keeps unusual keys, and problems keep their path', () => {
  const Step = asSent(z.looseObject({ id: z.string(), at: z.array(z.number()) }));
  const odd = '{"id":"a","at":[1],"__proto__":{"b":1}}';
  expect(JSON.stringify(Step.parse(JSON.parse(odd)))).toBe(odd);
  const { error } = z.strictObject({ steps: z.array(Step) }).safeParse({ steps: [{ at: [1, 'x'] }] });
  expect(error?.issues.map(issue => issue.path.join('.'))).toEqual(['steps.0.id', 'steps.0.at.1']);
});
