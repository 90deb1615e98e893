import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { SchemaValidator } from './validator.ts';
import type { Value } from './value.ts';

const patterns = (source: string) => {
  if (source.includes('(?=')) return undefined;
  const expression = new RegExp(source, 'u');
  return { test: (text: string) => expression.test(text), cost: 1 };
};
const findings = (schema: JsonObject, value: Value) =>
  new SchemaValidator(schema, { patterns, formats: true }).check(value, 100_000);
/** Returns each finding as `path: message`. */
const messages = (schema: JsonObject, value: Value) =>
  findings(schema, value)?.map(({ path, message }) => `${path.join('.')}: ${message}`);

/** The schema that Pydantic 2 emits for a model with an optional model, an enum, a list of itself and formats. */
const pydantic: JsonObject = {
  $defs: {
    Address: {
      properties: { city: { title: 'City', type: 'string' }, zip: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
      required: ['city', 'zip'],
      title: 'Address',
      type: 'object',
    },
    Color: { enum: ['red', 'green'], title: 'Color', type: 'string' },
    Node: {
      additionalProperties: false,
      properties: {
        address: { anyOf: [{ $ref: '#/$defs/Address' }, { type: 'null' }], default: null },
        children: { items: { $ref: '#/$defs/Node' }, title: 'Children', type: 'array' },
        color: { $ref: '#/$defs/Color', default: 'red', description: 'Of the node' },
        seen: { format: 'date-time', title: 'Seen', type: 'string' },
      },
      required: ['color'],
      title: 'Node',
      type: 'object',
    },
  },
  $ref: '#/$defs/Node',
};

describe('references', () => {
  test('are followed as Pydantic emits them: recursive, optional, with keywords beside them', () => {
    expect(messages(pydantic, { color: 'red', address: null, children: [{ color: 'green', children: [] }] })).toEqual(
      [],
    );
    expect(messages(pydantic, { color: 'red', address: { city: 'Oslo', zip: null } })).toEqual([]);
    expect(messages(pydantic, { color: 'blue', children: [{ color: 'red', address: { zip: '1' }, size: 1 }] })).toEqual(
      [
        'children.0.size: is not expected',
        'children.0.address: city is missing',
        'color: must be one of "red", "green"',
      ],
    );
    expect(messages(pydantic, { color: 'red', address: 'Oslo' })).toEqual([
      'address: must be an object or null, not a string',
    ]);
  });

  test.each<[string, JsonObject]>([
    ['definitions', { properties: { a: { $ref: '#/definitions/n' } }, definitions: { n: { type: 'number' } } }],
    ['an anchor', { properties: { a: { $ref: '#n' } }, $defs: { x: { $anchor: 'n', type: 'number' } } }],
    ['an anchor of draft 7', { properties: { a: { $ref: '#n' } }, definitions: { x: { $id: '#n', type: 'number' } } }],
    [
      'a relative $id',
      {
        $id: 'https://acme.example/schemas/root.json',
        properties: { a: { $ref: 'n.json' } },
        $defs: { x: { $id: 'n.json', type: 'number' } },
      },
    ],
    [
      'a part of an $id',
      {
        $id: 'https://acme.example/root',
        properties: { a: { $ref: 'https://acme.example/root#/$defs/n' } },
        $defs: { n: { type: 'number' } },
      },
    ],
    ['a urn', { $id: 'urn:acme:a', properties: { a: { $ref: '#/$defs/n' } }, $defs: { n: { type: 'number' } } }],
    ['an escaped name', { properties: { a: { $ref: '#/$defs/a~1b%25' } }, $defs: { 'a/b%': { type: 'number' } } }],
    ['another property', { properties: { b: { type: 'number' }, a: { $ref: '#/properties/b' } } }],
    [
      'components of OpenAPI',
      { properties: { a: { $ref: '#/components/schemas/N' } }, components: { schemas: { N: { type: 'number' } } } },
    ],
    [
      'allOf of one',
      { properties: { a: { allOf: [{ $ref: '#/$defs/n' }], title: 'A' } }, $defs: { n: { type: 'number' } } },
    ],
  ])('%s', (_, schema) => {
    expect(messages(schema, { a: 1 })).toEqual([]);
    expect(messages(schema, { a: 'x' })).toEqual(['a: must be a number, not a string']);
  });

  test('a property called $ref is not a reference', () => {
    const schema = { properties: { $ref: { type: 'string' }, $id: { type: 'string' } } };
    expect(messages(schema, { $ref: 1 })).toEqual(['$ref: must be a string, not a number']);
  });

  test('the keywords beside a reference count, except in draft 7', () => {
    const beside = { properties: { a: { $ref: '#/$defs/s', minLength: 3 } }, $defs: { s: { type: 'string' } } };
    expect(messages(beside, { a: 'x' })).toEqual(['a: must have at least 3 characters, not 1']);
    expect(messages({ $schema: 'http://json-schema.org/draft-07/schema#', ...beside }, { a: 'x' })).toEqual([]);
  });

  test('a reference to another document, or to a missing part, refuses nothing', () => {
    for (const $ref of ['https://evil.example/s', 'other.json', '#/nowhere', '#nowhere', '#/%zz', 'http://[']) {
      expect(messages({ properties: { a: { $ref }, b: { not: { $ref } } } }, { a: 1, b: 1 })).toEqual([]);
    }
  });

  test('an endless reference uses up its budget, and not the stack', () => {
    expect(findings({ $ref: '#' }, 1)).toBeUndefined();
    expect(
      findings({ $ref: '#/$defs/a', $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#' }] } } }, 1),
    ).toBeUndefined();
  });
});

describe('keywords of OpenAPI', () => {
  test('nullable allows null, beside a type, an enum or a reference', () => {
    const schema: JsonObject = {
      properties: {
        a: { type: 'string', nullable: true },
        b: { enum: ['x'], nullable: true },
        c: { nullable: true, allOf: [{ $ref: '#/$defs/o' }] },
        d: { type: 'string', nullable: false },
      },
      $defs: { o: { type: 'object' } },
    };
    expect(messages(schema, { a: null, b: null, c: null })).toEqual([]);
    expect(messages(schema, { c: 1, d: null })).toEqual([
      'c: must be an object, not a number',
      'd: must be a string, not null',
    ]);
  });

  test('a boolean exclusiveMinimum or exclusiveMaximum excludes the limit', () => {
    const schema = { minimum: 1, exclusiveMinimum: true, maximum: 3, exclusiveMaximum: true };
    expect(messages(schema, 1)).toEqual([': must be more than 1']);
    expect(messages(schema, 3)).toEqual([': must be less than 3']);
    expect(messages(schema, 2)).toEqual([]);
  });

  test('a discriminator selects the alternative whose problems are reported', () => {
    const pet = (kind: string, field: string): JsonObject => ({
      type: 'object',
      properties: { kind: { const: kind }, [field]: { type: 'integer' } },
      required: ['kind', field],
    });
    const schema: JsonObject = {
      oneOf: [{ $ref: '#/$defs/Cat' }, { $ref: '#/$defs/Dog' }],
      discriminator: { propertyName: 'kind', mapping: { cat: '#/$defs/Cat', dog: '#/$defs/Dog' } },
      $defs: { Cat: pet('cat', 'lives'), Dog: pet('dog', 'walks') },
    };
    expect(messages(schema, { kind: 'dog', walks: 2 })).toEqual([]);
    expect(messages(schema, { kind: 'dog', walks: 'x' })).toEqual(['walks: must be an integer, not a string']);
    expect(messages(schema, { kind: 'cow' })).toEqual(['kind: must be one of "cat", "dog"']);
  });
});

describe('messages are readable text', () => {
  test.each<[JsonObject, Value, string]>([
    [{ properties: { a: false } }, { a: 1 }, 'a: is not expected'],
    [{ additionalProperties: false }, { a: 1 }, 'a: is not expected'],
    [{ required: ['a b'] }, {}, ': "a b" is missing'],
    [{ type: ['string', 'null'] }, 1, ': must be a string or null, not a number'],
    [{ type: 'boolean' }, [], ': must be true or false, not an array'],
    [{ type: 'integer' }, 1.5, ': must be an integer, not a number'],
    [{ const: { a: [1] } }, 1, ': must be {"a":[1]}'],
    [{ enum: [] }, 1, ': is not expected'],
    [{ maximum: 3 }, 4, ': must be at most 3'],
    [{ multipleOf: 0.1 }, 0.35, ': must be a multiple of 0.1'],
    [{ maxLength: 1 }, '👍👍', ': must have at most 1 character, not 2'],
    [{ pattern: '^a$' }, 'b', ': must match the pattern ^a$'],
    [{ format: 'date' }, '2026-02-30', ': must be a date, such as 2026-01-31'],
    [{ minItems: 1 }, [], ': must have at least 1 item, not 0'],
    [{ uniqueItems: true }, [1, { a: 1, b: 2 }, { b: 2, a: 1 }], ': must not have equal items, as [1] and [2] are'],
    [{ maxProperties: 0 }, { a: 1 }, ': must have at most 0 fields, not 1'],
    [{ propertyNames: { maxLength: 1 } }, { ab: 1 }, 'ab: has a name that must have at most 1 character, not 2'],
    [{ dependentRequired: { a: ['b'] } }, { a: 1 }, ': b is missing: a requires it'],
    [{ not: {} }, 1, ': has a form that is excluded'],
    [{ oneOf: [{}, {}] }, 1, ': fits more than one of the alternatives, and must fit exactly one'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 1, ': must be a string or null, not a number'],
    [{ anyOf: [{ const: 'a' }, { const: 'b' }] }, 'c', ': must be one of "a", "b"'],
    [{ anyOf: [false, false] }, 'c', ': is not expected'],
    [{ contains: { const: 1 } }, [2], ': must have at least 1 item of the form of “contains”, not 0'],
  ])('%j of %j', (schema, value, message) => expect(messages(schema, value)).toEqual([message]));

  test('no message is long or repeated', () => {
    const [finding] = findings({ enum: Array.from({ length: 5_000 }, (_, n) => `choice ${n}`) }, 'x') ?? [];
    expect(finding?.message.length).toBeLessThan(260);
    expect(messages({ allOf: [{ type: 'string' }, { type: 'string' }] }, 1)).toHaveLength(1);
    const items = Array.from({ length: 200 }, (_, n) => n);
    expect(messages({ items: { type: 'string' } }, items)).toHaveLength(50);
  });
});

describe('formats', () => {
  test.each([
    ['date', '2026-01-31', '31.1.2026'],
    ['date-time', '2026-01-31T08:00:00+01:00', '2026-01-31T08:00:00'],
    ['time', '08:30', '8:30'],
    ['time', '08:30:00.5Z', '25:00'],
    ['duration', 'PT15M', '15 minutes'],
    ['email', 'ada@example.com', 'ada@'],
    ['hostname', 'db.example.com', '-db'],
    ['ipv4', '10.0.0.1', '10.0.0.256'],
    ['ipv6', '::1', '1'],
    ['uri', 'https://example.com/a', 'example.com'],
    ['url', 'https://example.com/a', 'example.com'],
    ['uuid', '01900000-0000-7000-8000-000000000001', '1'],
  ])('%s is enforced', (format, good, bad) => {
    expect(messages({ format }, good)).toEqual([]);
    expect(messages({ format }, bad)).toHaveLength(1);
    expect(new SchemaValidator({ format }, { patterns, formats: false }).check(bad, 100)).toEqual([]);
  });
  test.each(['password', 'int64', 'textarea', 'constructor', 'x'])('%s is an annotation', format =>
    expect(messages({ format }, 'x')).toEqual([]),
  );
});

describe('bigints are integers with all their digits', () => {
  const big = 7615917337495251231n;
  test.each<[JsonObject, Value, number]>([
    [{ type: 'integer' }, big, 0],
    [{ type: ['number', 'null'] }, big, 0],
    [{ type: 'string' }, big, 1],
    [{ minimum: 2 ** 53 }, 9007199254740993n, 0],
    [{ maximum: 2 ** 53 }, 9007199254740993n, 1],
    [{ exclusiveMaximum: 2 ** 53 }, 2n ** 53n, 1],
    [{ maximum: big as unknown as number }, big, 0],
    [{ maximum: big as unknown as number }, big + 1n, 1],
    [{ multipleOf: 10 }, 76159173374952512310n, 0],
    [{ multipleOf: 10 }, 76159173374952512311n, 1],
    [{ multipleOf: 0.5 }, big, 0],
    [{ const: big as unknown as number }, big, 0],
    [{ const: big as unknown as number }, big + 1n, 1],
    [{ const: Number(big) }, big, 1],
    [{ enum: [1, big as unknown as number] }, big, 0],
    [{ enum: [{ id: big as unknown as number }] }, { id: (big + 1n) as unknown as number }, 1],
    [{ uniqueItems: true }, [big, big + 1n, Number(big)] as unknown as Value, 0],
    [{ uniqueItems: true }, [{ a: big }, { a: big }] as unknown as Value, 1],
    [{ uniqueItems: true }, [4n, 4] as unknown as Value, 1],
  ])('%o', (schema, value, problems) => expect(findings(schema, value)).toHaveLength(problems));

  test('a message shows all digits', () => {
    const most = big as unknown as number;
    expect(messages({ properties: { id: { maximum: most } } }, { id: most + (1n as unknown as number) })).toEqual([
      `id: must be at most ${big}`,
    ]);
  });
});
