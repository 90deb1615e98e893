import { type Schema, Validator } from '@cfworker/json-schema';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { startModelServer } from '../../testing/model-server.ts';
import { ManualClock } from '../clock.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { createRedactor } from '../secrets/redaction.ts';
import type { ContentPart } from './messages.ts';
import { type ModelProvider, modelProviders } from './providers.ts';
import { adaptTools } from './tool-schema.ts';
import { askTurn } from './turn.ts';

function adapted(schema: JsonObject, provider: ModelProvider = 'openai'): JsonObject {
  const [tool] = adaptTools(provider, [{ name: 'tool', inputSchema: schema }]).tools;
  return tool?.inputSchema ?? {};
}
function described(schema: JsonObject): string | undefined {
  return adaptTools('anthropic', [{ name: 'tool', description: 'Does it.', inputSchema: schema }]).tools[0]
    ?.description;
}
const text = { type: 'string' };
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...more });

describe('the schema of a tool', () => {
  test('that every provider accepts is unchanged', () => {
    const schema = object(
      { name: { type: 'string', description: 'A name' }, tags: { type: 'array', items: text }, n: { enum: [1, 2] } },
      { required: ['name'], additionalProperties: false },
    );
    for (const provider of modelProviders) expect(adapted(schema, provider)).toEqual(schema);
  });

  test('always describes an object', () => {
    for (const schema of [{}, { type: ['object', 'null'] }, { properties: null }, { type: 'Object' }] as JsonObject[]) {
      for (const provider of modelProviders) expect(adapted(schema, provider)).toEqual(object({}));
    }
  });

  test('has no alternatives at its root: it has the fields of all, and describes the alternatives in text', () => {
    const byId = object({ kind: { const: 'id' }, id: text }, { required: ['kind', 'id'], additionalProperties: false });
    const byName = object({ kind: { const: 'name' }, name: text }, { required: ['kind', 'name'] });
    for (const keyword of ['oneOf', 'anyOf']) {
      const schema = { [keyword]: [byId, byName], description: 'Finds.' };
      for (const provider of modelProviders) {
        expect(adapted(schema, provider)).toEqual({
          ...object({ kind: { enum: ['id', 'name'] }, id: text, name: text }, { required: ['kind'] }),
          description: 'Finds.',
        });
      }
      expect(described(schema)).toBe(
        `Does it.\n\nThe arguments must also fit this JSON Schema: {"${keyword}":${JSON.stringify([byId, byName])}}`,
      );
    }
  });

  test('does not quote long alternatives', () => {
    const choice = (name: string) => object({ [name]: { description: 'x'.repeat(2_000) } }, { required: [name] });
    expect(described({ oneOf: [choice('a'), choice('b')] })).toBe(
      'Does it.\n\nNot every combination of arguments is accepted. They need one of these sets of fields: a; or b.',
    );
  });

  test('combines all parts, follows its own reference, and takes conditions as optional fields', () => {
    const schema: JsonObject = {
      $ref: '#/definitions/Args',
      definitions: {
        Args: {
          allOf: [object({ a: text }, { required: ['a'] }), { $ref: '#/definitions/More' }],
          if: object({ a: { const: 'x' } }),
          then: object({ c: text }, { required: ['c'] }),
        },
        More: object({ b: { type: 'integer' } }, { required: ['b'] }),
      },
    };
    for (const provider of modelProviders) {
      const { required, ...rest } = adapted(schema, provider);
      expect(rest).toEqual(object({ a: text, b: { type: 'integer' }, c: text }));
      expect([...(required as string[])].sort()).toEqual(['a', 'b']);
    }
  });

  test('keeps its definitions, except for Gemini; recursion ends', () => {
    const node = object({ next: { $ref: '#/$defs/Node' }, value: text });
    const schema = object(
      { list: { $ref: '#/$defs/Node' }, gone: { $ref: '#/$defs/None' } },
      { $defs: { Node: node } },
    );
    expect(adapted(schema)).toEqual(object({ list: { $ref: '#/$defs/Node' }, gone: {} }, { $defs: { Node: node } }));
    expect(adapted(schema, 'google')).toEqual(object({ list: object({ next: {}, value: text }), gone: {} }));
    expect(adapted(object({ self: { $ref: '#' } }))).toEqual(object({ self: object({ self: {} }) }));
  });

  test.each<[string, JsonObject, JsonObject]>([
    ['a boolean', true as unknown as JsonObject, {}],
    ['nulls of Go', { type: 'string', enum: null, pattern: null } as JsonObject, text],
    ['the names of types of other languages', { type: 'str' }, text],
    [
      'the exclusive bound of draft 4',
      { type: 'number', minimum: 1, exclusiveMinimum: true },
      { type: 'number', minimum: 1, exclusiveMinimum: 1 },
    ],
    ['a list without items', { type: 'array' }, { type: 'array', items: {} }],
    [
      'a tuple',
      { type: 'array', prefixItems: [text, { type: 'null' }], items: false },
      { type: 'array', items: { anyOf: [text, { type: 'null' }] } },
    ],
    ['the option of zod', { anyOf: [{ not: {} }, text] }, { anyOf: [text] }],
    ['a choice', { oneOf: [text, { type: 'null' }] }, { anyOf: [text, { type: 'null' }] }],
    ['keywords that mean nothing', { type: 'string', nullable: true, 'x-order': 1, $comment: 'c', $id: 'i' }, text],
    [
      'required fields that are not declared',
      { type: 'object', required: ['a'] },
      object({ a: {} }, { required: ['a'] }),
    ],
    ['an empty object of PHP', { type: 'object', properties: [], required: [] }, { type: 'object' }],
    ['a keyword in the wrong place', object({ a: text, type: 'object' }), object({ a: text })],
    [
      'additional fields of any kind',
      { type: 'object', additionalProperties: {} },
      { type: 'object', additionalProperties: true },
    ],
  ])('is valid if a field has %s', (_what, field, expected) => {
    expect(adapted(object({ field }))).toEqual(object({ field: expected }));
  });

  test('leaves out a field that accepts nothing', () => {
    const never = false as unknown as JsonObject;
    expect(adapted(object({ never, a: text }, { required: ['never', 'a'] }))).toEqual(
      object({ a: text }, { required: ['a'] }),
    );
  });

  test('is in the subset of Gemini', () => {
    const field: JsonObject = {
      allOf: [{ type: 'number', multipleOf: 2 }],
      exclusiveMinimum: 0,
      default: 4,
      examples: [2],
    };
    const schema = object({
      field,
      kind: { const: 'a' },
      on: { enum: [true] },
      at: { type: 'string', format: 'uri', pattern: 'x' },
    });
    expect(adapted({ ...schema, patternProperties: { '^x-': text }, additionalProperties: false }, 'google')).toEqual(
      object({ field: { type: 'number', minimum: 0 }, kind: { enum: ['a'] }, on: {}, at: text }),
    );
  });

  test('has argument names that Anthropic accepts, and calls get the original names back', () => {
    const schema = object({ 'filter[id]': text, filter_id_: text, $top: text }, { required: ['filter[id]', '$top'] });
    const tools = adaptTools('anthropic', [{ name: 'find', inputSchema: schema }]);
    expect(tools.tools[0]?.inputSchema).toEqual(
      object({ filter_id__2: text, filter_id_: text, _top: text }, { required: ['filter_id__2', '_top'] }),
    );
    const call = (args: Json): ContentPart => ({ type: 'tool_call', id: '1', name: 'find', arguments: args });
    expect(tools.restore([{ ...call({ filter_id__2: '7', other: 1 }), raw: '{}' } as ContentPart, call('x')])).toEqual([
      call({ 'filter[id]': '7', other: 1 }),
      call('x'),
    ]);
    expect(adapted(schema, 'openai')).toEqual(schema);
  });

  test('is limited, however large or deep the original is', () => {
    let deep: JsonObject = text;
    for (let n = 0; n < 3_000; n++) deep = object({ a: deep, b: { allOf: [deep] } });
    for (const provider of modelProviders) expect(JSON.stringify(adapted(deep, provider)).length).toBeLessThan(500_000);
    const doubling = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [
        `D${n}`,
        object({ l: { $ref: `#/$defs/D${n + 1}` }, r: { $ref: `#/$defs/D${n + 1}` } }),
      ]),
    );
    const schema = { ...object({ d: { $ref: '#/$defs/D0' } }), $defs: doubling };
    for (const provider of modelProviders)
      expect(JSON.stringify(adapted(schema, provider)).length).toBeLessThan(500_000);
  });
});

test('a turn sends the adapted schema, and its calls have the names of the original schema', async () => {
  const server = await startModelServer();
  const event = (type: string, fields: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
  const use = { type: 'tool_use', id: 'call_1', name: 'find', input: {} };
  server.reply({
    raw: [
      event('content_block_stop', { index: 0 }),
      event('content_block_start', { index: 1, content_block: use }),
      event('content_block_delta', { index: 1, delta: { type: 'input_json_delta', partial_json: '{"_top": 5}' } }),
      event('content_block_stop', { index: 1 }),
      event('message_delta', { delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 1 } }),
      event('message_stop', {}),
    ].join(''),
  });
  const inputSchema = { oneOf: [object({ $top: { type: 'integer' } }), object({ name: text })] };
  const reply = await askTurn(
    {
      provider: 'anthropic',
      baseUrl: `${server.url}/v1`,
      apiKey: 'key',
      model: 'tiny',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Find it.' }] }],
      tools: [{ name: 'find', inputSchema }],
      toolChoice: 'auto',
    },
    {
      fetch,
      clock: new ManualClock(),
      signal: new AbortController().signal,
      redactor: createRedactor([]),
      onPiece: () => undefined,
    },
  );
  await server.close();
  expect(server.requests[0]?.body.tools).toMatchObject([
    {
      name: 'find',
      description: expect.stringContaining('"oneOf"'),
      input_schema: object({ _top: { type: 'integer' }, name: text }),
    },
  ]);
  expect(reply).toMatchObject({ content: [{ type: 'tool_call', name: 'find', arguments: { $top: 5 } }] });
});

const KEYWORDS_OF_GEMINI =
  /^(type|format|title|description|enum|items|m(in|ax)(Items|imum)|anyOf|properties|additionalProperties|required)$/;

/** Returns all schemas within a schema, with their keywords. */
function schemasIn(schema: Json): JsonObject[] {
  if (!isObject(schema)) return [];
  const { properties, $defs, items, additionalProperties, anyOf, allOf } = schema;
  const inner = [properties, $defs].flatMap(map => (isObject(map) ? Object.values(map) : []));
  const lists = [anyOf, allOf].flatMap(list => (Array.isArray(list) ? list : []));
  return [schema, ...[...inner, ...lists, items ?? null, additionalProperties ?? null].flatMap(schemasIn)];
}

describe('any schema', () => {
  const names = fc.constantFrom('a', 'b', 'c d');
  // Schemas of one or two keywords: with more, hardly a value fits.
  const { schema } = fc.letrec(tie => {
    const list = fc.array(tie('schema'), { minLength: 1, maxLength: 2 });
    const keyword = fc.oneof(
      fc.record({ type: fc.constantFrom<unknown>('object', 'array', 'string', ['integer', 'null'], 'Float', null) }),
      fc.record({ properties: fc.dictionary(names, tie('schema'), { maxKeys: 2, noNullPrototype: true }) }),
      fc.record({ required: fc.oneof(fc.uniqueArray(names, { maxLength: 2 }), fc.constant(null)) }),
      fc.record({ additionalProperties: tie('schema') }),
      fc.record({ patternProperties: fc.dictionary(names, tie('schema'), { maxKeys: 2, noNullPrototype: true }) }),
      fc.record({ items: tie('schema') }),
      fc.record({ prefixItems: list }),
      fc.record({ anyOf: list }),
      fc.record({ oneOf: list }),
      fc.record({ allOf: list }),
      fc.record({ not: tie('schema') }),
      fc.record({ if: tie('schema'), then: tie('schema'), else: tie('schema') }),
      fc.record({ contains: tie('schema') }),
      fc.record({ exclusiveMinimum: fc.integer({ min: 0, max: 2 }) }),
      fc.record({ $ref: fc.constantFrom('#/$defs/D', '#', 'https://example.com/x') }),
    );
    const leaf = fc.constantFrom<unknown>(true, false, {}, { type: 'string' }, { type: 'integer' }, { const: 1 });
    const pair = fc.tuple(keyword, keyword).map(([one, other]) => ({ ...one, ...other }));
    return { schema: fc.oneof({ depthSize: 'small' }, leaf, keyword, pair) };
  });
  const values = fc.letrec(tie => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom<unknown>('x', 1, 2, null, true),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(names, tie('value'), { maxKeys: 3, noNullPrototype: true }),
    ),
  })).value;
  const provider = fc.constantFrom(...modelProviders);

  test('becomes an object without alternatives at its root, in keywords of the provider', () => {
    fc.assert(
      fc.property(fc.record({ field: schema, top: schema, definition: schema }), provider, (of, by) => {
        const top = isObject(of.top) ? of.top : {};
        const made = adapted({ ...top, $defs: { D: of.definition, field: of.field } } as JsonObject, by);
        expect(made.type).toBe('object');
        for (const keyword of ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const', '$ref'])
          expect(made).not.toHaveProperty(keyword);
        for (const inner of schemasIn(made)) {
          expect(inner).not.toHaveProperty('oneOf');
          if (by === 'google') for (const keyword of Object.keys(inner)) expect(keyword).toMatch(KEYWORDS_OF_GEMINI);
          if (by !== 'google' && typeof inner.$ref === 'string') expect(inner.$ref).toBe('#/$defs/D');
          if (inner.type === 'array') expect(inner).toHaveProperty('items');
        }
      }),
      { numRuns: 500 },
    );
  });

  test('accepts in its fields all values that the original accepts', () => {
    const isValid = (of: JsonObject, value: unknown) => {
      try {
        return new Validator(of as Schema, '2020-12').validate(value).valid;
      } catch {
        // The library throws for references that it cannot resolve, and for schemas that refer to themselves without end.
        return undefined;
      }
    };
    let fitting = 0;
    fc.assert(
      fc.property(schema, schema, values, provider, (field, definition, value, by) => {
        const original = { ...object({ field: field as JsonObject }), $defs: { D: definition as JsonObject } };
        if (isValid(original, { field: value }) !== true) return;
        fitting++;
        expect(isValid(adapted(original, by), { field: value })).toBe(true);
      }),
      { numRuns: 1_000 },
    );
    expect(fitting).toBeGreaterThan(200);
  });
});
