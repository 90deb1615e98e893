import { type Schema, Validator } from '@cfworker/json-schema';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { SchemaValidator } from './validator.ts';

const key = fc.constantFrom('a', 'b', 'c');
const scalar = fc.oneof(
  fc.constantFrom(null, true, 0, 1, 2, 0.5, 1.5, -3, 1e21, '', 'a', 'ab', '👍'),
  fc.integer({ min: -3, max: 3 }),
);
const { value } = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 3 },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3 }),
  ),
}));
const count = fc.integer({ min: 0, max: 3 });
const limit = fc.constantFrom(-1, 0, 0.5, 1, 2);
const type = fc.constantFrom('string', 'number', 'integer', 'boolean', 'object', 'array', 'null');
const { schema } = fc.letrec(tie => {
  const inner = tie('schema');
  const map = fc.dictionary(key, inner, { maxKeys: 2 });
  const list = fc.array(inner, { minLength: 1, maxLength: 3 });
  const keywords: Record<string, fc.Arbitrary<unknown>> = {
    type: fc.oneof(type, fc.array(type, { minLength: 1, maxLength: 3 })),
    enum: fc.array(value, { maxLength: 3 }),
    const: value,
    minimum: limit,
    exclusiveMaximum: limit,
    multipleOf: fc.constantFrom(0.1, 0.5, 1, 3),
    minLength: count,
    maxLength: count,
    pattern: fc.constantFrom('^a', 'b$'),
    minItems: count,
    maxItems: count,
    uniqueItems: fc.boolean(),
    prefixItems: list,
    items: inner,
    contains: inner,
    minContains: count,
    minProperties: count,
    maxProperties: count,
    required: fc.array(key, { maxLength: 2 }),
    properties: map,
    patternProperties: fc.dictionary(fc.constantFrom('^a', 'b$'), inner, { maxKeys: 2 }),
    additionalProperties: inner,
    propertyNames: inner,
    dependentRequired: fc.dictionary(key, fc.array(key, { maxLength: 2 }), { maxKeys: 2 }),
    dependentSchemas: map,
    allOf: list,
    anyOf: list,
    oneOf: list,
    not: inner,
    if: inner,
    then: inner,
    else: inner,
    $ref: fc.constantFrom('#/$defs/one', '#/$defs/two'),
  };
  const pairs = Object.entries(keywords).map(([name, of]) => fc.tuple(fc.constant(name), of));
  const object = fc.array(fc.oneof({ maxDepth: 4 }, ...pairs), { maxLength: 3 }).map(Object.fromEntries);
  return { schema: fc.oneof({ maxDepth: 4 }, fc.boolean(), object) };
});
const patterns = (source: string) => ({ test: (text: string) => new RegExp(source, 'u').test(text), cost: 1 });

test('agrees with the library of the MCP protocol, and names at least one problem', () => {
  const root = fc.record({ root: fc.tuple(schema), one: schema, two: schema });
  fc.assert(
    fc.property(root, value, ({ root: [main], one, two }, instance) => {
      // The definitions end a chain of references: beneath them a reference would be without end.
      const withoutRefs = (part: unknown): unknown =>
        JSON.parse(JSON.stringify(part), (name, item) => (name === '$ref' ? undefined : item));
      const whole = { allOf: [main], $defs: { one: withoutRefs(one), two: withoutRefs(two) } } as JsonObject;
      const mine = new SchemaValidator(whole, { patterns, formats: false }).check(instance as never, 1_000_000);
      const theirs = new Validator(structuredClone(whole) as Schema, '2020-12', false).validate(instance);
      expect([mine?.length === 0, whole]).toEqual([theirs.valid, whole]);
    }),
    { numRuns: Number(process.env.SCHEMA_RUNS ?? 2_000) },
  );
});
