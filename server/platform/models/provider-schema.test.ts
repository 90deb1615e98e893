import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import { adaptSchema } from './provider-schema.ts';
import { modelProviders } from './providers.ts';

const nodes: JsonObject = {
  $ref: '#/definitions/Node',
  definitions: {
    Color: { enum: ['red', 'green'], type: 'string', title: 'Color' },
    Node: {
      type: 'object',
      properties: {
        color: { $ref: '#/definitions/Color', description: 'Of the node', default: 'red' },
        shade: { allOf: [{ $ref: '#/definitions/Color' }], title: 'Shade' },
        name: { type: 'string', nullable: true },
        children: { type: 'array', items: { $ref: '#/definitions/Node' } },
      },
      required: ['color', 'shade', 'name', 'children'],
    },
  },
};
const propertiesOf = (schema: JsonObject) => schema.properties as { [name: string]: JsonObject };

test.each(modelProviders)('%s gets an object at the root, and null as JSON Schema writes it', provider => {
  const { schema } = adaptSchema(provider, nodes);
  expect(schema).toMatchObject({ type: 'object' });
  expect(schema).not.toHaveProperty('$ref');
  expect(propertiesOf(schema).name).toEqual({ type: ['string', 'null'] });
  expect(JSON.stringify(schema)).not.toMatch(/nullable|allOf/);
});

describe('OpenAI', () => {
  test('is asked to be strict if that only closes objects and drops annotations', () => {
    const { schema, strict } = adaptSchema('openai', nodes);
    expect(strict).toBe(true);
    expect(propertiesOf(schema).color).toEqual({ $ref: '#/definitions/Color' });
    expect(schema).toMatchObject({
      additionalProperties: false,
      definitions: { Node: { additionalProperties: false } },
    });
    const zod = z.object({
      a: z.string().describe('An a'),
      b: z.enum(['x']).nullable(),
      c: z.array(z.object({ d: z.int().min(1) })),
    });
    expect(adaptSchema('openai', z.toJSONSchema(zod) as JsonObject).strict).toBe(true);
  });

  test.each<[string, JsonObject]>([
    ['a field that may be left out', { type: 'object', properties: { a: { type: 'string' } } }],
    ['fields of any name', { type: 'object', properties: {}, required: [], additionalProperties: { type: 'string' } }],
    [
      'a choice at the root',
      { anyOf: [{ type: 'object', properties: {}, required: [], additionalProperties: false }] },
    ],
    [
      'a keyword that it does not know',
      {
        type: 'object',
        properties: { a: { type: 'array', items: { type: 'string' }, uniqueItems: true } },
        required: ['a'],
      },
    ],
    [
      'a format that it does not know',
      { type: 'object', properties: { a: { type: 'string', format: 'uri' } }, required: ['a'] },
    ],
    ['a value of any type', { type: 'object', properties: { a: {} }, required: ['a'] }],
  ])('gets an unchanged schema that is not strict for %s', (_, schema) => {
    expect(adaptSchema('openai', schema)).toEqual({ schema, strict: false });
  });
});

test('Gemini gets only keywords that it supports: references without others beside them, under $defs', () => {
  const { schema } = adaptSchema('google', nodes);
  expect(propertiesOf(schema)).toMatchObject({ color: { $ref: '#/$defs/Color' }, shade: { $ref: '#/$defs/Color' } });
  expect(propertiesOf(schema).color).toEqual({ $ref: '#/$defs/Color' });
  expect(schema).not.toHaveProperty('definitions');
  expect(schema.$defs).toHaveProperty('Color');
  const keywords: JsonObject = {
    type: 'object',
    properties: { a: { type: 'string', pattern: 'x', minLength: 1, not: {} } },
  };
  expect(adaptSchema('google', keywords).schema).toEqual({ type: 'object', properties: { a: { type: 'string' } } });
});

test('a property with the name of a keyword stays', () => {
  const schema: JsonObject = {
    type: 'object',
    properties: { $ref: { type: 'string' }, default: { type: 'string' }, nullable: { type: 'string' } },
  };
  for (const provider of modelProviders)
    expect(Object.keys(propertiesOf(adaptSchema(provider, schema).schema))).toHaveLength(3);
});

test('a property with a dot in its name is not confused with a nested property', () => {
  const schema: JsonObject = {
    type: 'object',
    properties: { 'a.b': { type: 'string', nullable: true }, a: { properties: { b: { type: 'number' } } } },
  };
  expect(propertiesOf(adaptSchema('google', schema).schema)['a.b']).toEqual({ type: ['string', 'null'] });
});
