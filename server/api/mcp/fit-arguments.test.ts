import { isDeepStrictEqual } from 'node:util';
import { Validator } from '@cfworker/json-schema';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isObject } from '../../platform/json.ts';
import { allTools } from '../../testing/platform-tools.ts';
import { RequestDraws, type Schema } from '../../testing/requests.ts';
import { fitArguments } from './fit-arguments.ts';

type Json = Record<string, unknown>;
/** Fits one argument `x`, which may be left out, to its schema. */
const fitValue = (schema: unknown, value: unknown, root: Json = {}) =>
  fitArguments({ type: 'object', properties: { x: schema }, additionalProperties: false, ...root }, { x: value });

const text = { type: 'string' };
const object = { type: 'object', properties: { n: { type: 'integer' }, s: text } };

describe('null for an absent argument', () => {
  test.each<[string, unknown]>([
    ['a text', text],
    ['a number', { type: 'number', default: 5 }],
    ['an object', object],
    ['a list of choices', { enum: ['a', 'b'] }],
    ['one of several', { anyOf: [text, { type: 'array', items: text }] }],
    ['a reference', { $ref: '#/$defs/Name' }],
  ])('is removed: %s', (_, schema) => {
    expect(fitValue(schema, null, { $defs: { Name: text } })).toEqual({});
  });

  test.each<[string, unknown]>([
    ['null itself', { type: 'null' }],
    ['a type with null', { type: ['string', 'null'] }],
    ['an alternative of null', { anyOf: [text, { type: 'null' }] }],
    ['a literal', { enum: ['a', null] }],
    ['any JSON', {}],
    ['any JSON, as true', true],
    ['any JSON with a default', { default: 1 }],
  ])('stays if the schema accepts null: %s', (_, schema) => {
    expect(fitValue(schema, null)).toEqual({ x: null });
  });

  test('is removed at any depth, and in maps', () => {
    const schema = { type: 'array', items: { type: 'object', properties: { a: object }, required: ['b'] } };
    expect(fitValue(schema, [{ a: { n: null, s: 's', other: null }, b: null }])).toEqual({
      x: [{ a: { s: 's', other: null }, b: null }],
    });
    const map = { type: 'object', additionalProperties: text };
    expect(fitValue(map, { a: null, b: 'b' })).toEqual({ x: { b: 'b' } });
    const removable = { type: 'object', additionalProperties: { anyOf: [text, { type: 'null' }] } };
    expect(fitValue(removable, { a: null })).toEqual({ x: { a: null } });
  });

  test('stays for a required field, an item and an unknown field', () => {
    const schema = { type: 'object', properties: { x: text }, required: ['x'], additionalProperties: false };
    expect(fitArguments(schema, { x: null, y: null })).toEqual({ x: null, y: null });
    expect(fitValue({ type: 'array', items: text }, [null])).toEqual({ x: [null] });
  });
});

describe('text', () => {
  test.each<[string, unknown, unknown, unknown]>([
    ['an object', object, '{"n":1}', { n: 1 }],
    ['an object with space around it', object, ' \n{"n":1} ', { n: 1 }],
    ['a list', { type: 'array' }, '[1,"a"]', [1, 'a']],
    ['an object or null', { anyOf: [object, { type: 'null' }] }, '{}', {}],
    ['an object or a list', { type: ['object', 'array'] }, '[]', []],
    ['an object in an object in text', object, '{"n":"5","s":"5"}', { n: 5, s: '5' }],
    ['an integer', { type: 'integer' }, '-12', -12],
    ['an integer of 64 bits', { type: 'integer' }, '7615917337495251231', 7615917337495251231n],
    ['a number', { type: 'number' }, '1.5', 1.5],
    ['a boolean', { type: 'boolean' }, 'true', true],
    ['a number or a boolean', { type: ['number', 'boolean'] }, 'false', false],
    ['an integer or one certain text', { anyOf: [{ const: 'draft' }, { type: 'integer' }] }, '3', 3],
    ['a list instead of an empty object', object, [], {}],
    ['true for one of the texts of a filter', { enum: ['true', 'false'] }, true, 'true'],
    ['a number for one of certain texts', { enum: ['1', '2'] }, 2, '2'],
  ])('is read as %s if the schema accepts nothing else', (_, schema, given, value) => {
    expect(fitValue(schema, given)).toEqual({ x: value });
  });

  test.each<[string, unknown, unknown]>([
    ['any JSON', {}, '{"n":1}'],
    ['a text', text, '{"n":1}'],
    ['a text or an object', { anyOf: [object, text] }, '{"n":1}'],
    ['a text of a form', { type: 'string', format: 'uuid' }, '5'],
    ['a text or a number', { type: ['string', 'number'] }, '5'],
    ['one of certain texts or an object', { anyOf: [{ const: '{}' }, object] }, '{}'],
    ['an object for a list', { type: 'array' }, '{"n":1}'],
    ['malformed JSON', object, '{n:1}'],
    ['JSON that is cut off', object, '{"n":1'],
    ['a fraction for an integer', { type: 'integer' }, '1.5'],
    ['an integer of more than 64 bits', { type: 'integer' }, '18446744073709551616'],
    ['a number in another form', { type: 'number' }, '1e5'],
    ['a number with space', { type: 'number' }, ' 5'],
    ['an empty text', { type: 'number' }, ''],
    ['a boolean in another form', { type: 'boolean' }, 'yes'],
    ['a number for a text', text, 5],
    ['a boolean for an integer', { type: 'integer' }, true],
    ['an empty list for a list or an object', { type: ['array', 'object'] }, []],
    ['a value for a schema that accepts none', false, '{}'],
  ])('stays as it is: %s', (_, schema, given) => {
    expect(fitValue(schema, given)).toEqual({ x: given });
  });

  test('is read in the alternative that its literals name, and in none if several are possible', () => {
    const named = (type: string, step: unknown) => ({
      type: 'object',
      properties: { type: { const: type }, step },
      required: ['type', 'step'],
    });
    const oneOf = [named('add', object), named('remove', text)];
    expect(fitValue({ type: 'array', items: { oneOf } }, '[{"type":"add","step":"{\\"n\\":1}"}]')).toEqual({
      x: [{ type: 'add', step: { n: 1 } }],
    });
    expect(fitValue({ oneOf }, { type: 'remove', step: '{"n":1}' })).toEqual({
      x: { type: 'remove', step: '{"n":1}' },
    });
    const anyOf = [{ properties: { a: object } }, { properties: { a: text } }];
    expect(fitValue({ anyOf }, { a: '{}' })).toEqual({ x: { a: '{}' } });
    expect(fitValue({ anyOf: [true, ...anyOf.slice(0, 1)] }, { a: '{}' })).toEqual({ x: { a: '{}' } });
    expect(fitValue({ allOf: [object, { properties: { s: text } }] }, { n: '1', s: '1' })).toEqual({
      x: { n: 1, s: '1' },
    });
  });
});

test('hostile arguments neither overflow nor pollute', () => {
  const schema = { type: 'object', properties: { a: { $ref: '#' } }, additionalProperties: { type: 'integer' } };
  let deep: Json = {};
  for (let n = 0; n < 50_000; n++) deep = { a: deep };
  expect(() => fitArguments(schema, deep)).not.toThrow();
  const odd = JSON.parse('{"__proto__":"1","constructor":"2","a":"{\\"__proto__\\":\\"3\\"}"}');
  expect(JSON.stringify(fitArguments(schema, odd))).toBe('{"__proto__":1,"constructor":2,"a":{"__proto__":3}}');
  const endless = { $defs: { A: { $ref: '#/$defs/A' } }, properties: { x: { $ref: '#/$defs/A' } } };
  expect(fitArguments(endless, { x: '{}' })).toEqual({ x: '{}' });
});

/** Small JSON Schemas of every keyword that is read. */
const schemas = fc.letrec<{ schema: Json | boolean }>(tie => ({
  schema: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom<Json | boolean>({}, true, false, { $ref: '#/$defs/A' }, { $ref: '#/$defs/B' }),
    fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'object', 'array').map(type => ({ type })),
    fc.subarray(['string', 'integer', 'null', 'object', 'array'], { minLength: 1 }).map(type => ({ type })),
    fc.constantFrom<Json>({ const: 'a' }, { const: null }, { enum: ['a', '1', 'true'] }, { enum: [1, {}, null] }),
    fc.record({ type: fc.constant('array'), items: tie('schema') }),
    fc.record({ prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }), items: tie('schema') }),
    fc.record(
      {
        properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema'), { maxKeys: 2 }),
        required: fc.subarray(['a', 'b']),
        additionalProperties: tie('schema'),
      },
      { requiredKeys: ['properties'] },
    ),
    fc.record(
      { anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }), type: fc.constantFrom('object', 'string') },
      { requiredKeys: ['anyOf'] },
    ),
    fc.record({ oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
  ),
})).schema;
const values = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom<unknown>(null, true, 1, 1.5, 'a', '1', 'true', '{}', '{"a":1}', '["a"]', '1.5'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3 }),
  ),
})).value;

test('arguments that are valid stay the same, by any schema', () => {
  const drawn = fc.record({ x: schemas, a: schemas, b: schemas, value: values });
  let valid = 0;
  fc.assert(
    fc.property(drawn, ({ x, a, b, value }) => {
      // No cycles: the validator would never end.
      const $defs = { A: withoutReferences(a), B: withoutReferences(b) };
      const schema = { type: 'object', properties: { x }, $defs };
      const args = { x: value };
      if (!new Validator(schema as Json, '2020-12', true).validate(args).valid) return;
      valid += 1;
      expect(fitArguments(schema, args)).toBe(args);
    }),
    { numRuns: 3_000 },
  );
  expect(valid).toBeGreaterThan(500);
});

const withoutReferences = (schema: unknown): unknown =>
  JSON.parse(JSON.stringify(schema), (_, value) => (isObject(value) && '$ref' in value ? {} : value));

describe('the arguments of every tool', () => {
  test.each(allTools().map(tool => [tool.definition.name, tool.definition.inputSchema as Schema] as const))(
    '%s',
    (_, schema) => {
      const draws = new RequestDraws(schema);
      const validator = new Validator(schema as Json, '2020-12', true);
      fc.assert(
        fc.property(draws.valid(schema), fc.infiniteStream(fc.boolean()), (drawn, coin) => {
          // JSON has no -0.
          const args: Json = JSON.parse(JSON.stringify(drawn));
          const fittedArgs = fitArguments(schema, args);
          if (validator.validate(args).valid) expect(fittedArgs).toBe(args);
          // The arguments as careless clients write them.
          const careless = spoil(schema, args, () => coin.next().value === true);
          const restored = fitArguments(schema, careless);
          expect(isDeepStrictEqual(restored, fittedArgs), JSON.stringify([args, careless, restored])).toBe(true);
        }),
        { numRuns: 40 },
      );
    },
  );
});

/** Writes fields of the root as text if the schema does not accept text, and adds null for absent fields. */
function spoil({ properties }: Schema, args: Json, tossed: () => boolean): Json {
  const careless: Json = {};
  for (const [name, field] of Object.entries(isObject(properties) ? properties : {})) {
    const known = JSON.stringify(field);
    const takesText = known === '{}' || known.includes('"string"') || isFree(field);
    if (Object.hasOwn(args, name)) {
      const value = args[name];
      const isWhole = typeof value === 'number' && !/^-?\d{1,15}(\.\d{1,15})?$/.test(String(value));
      const isFixed =
        value === null || typeof value === 'string' || (typeof value === 'object' ? isFree(field) : isWhole);
      careless[name] = isFixed || (takesText && typeof value !== 'object') || !tossed() ? value : JSON.stringify(value);
    } else if (!takesNull(field) && tossed()) careless[name] = null;
  }
  return careless;
}

const isFree = (field: unknown): boolean =>
  isObject(field) && !('type' in field || 'anyOf' in field || 'enum' in field);
const takesNull = (field: unknown): boolean => isFree(field) || JSON.stringify(field).includes('"null"');
