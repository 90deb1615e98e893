import { describe, expect, it } from 'vitest';
import { ApiDocument, fieldsOf, operationsOf, typeOf } from './document.ts';

const document = ApiDocument.parse({
  openapi: '3.1.0',
  info: { title: 'Baton', version: '1' },
  paths: {
    '/v1/things/{id}': {
      get: {
        operationId: 'things_get',
        tags: ['Things'],
        summary: 'Reads a thing',
        parameters: [
          { name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } },
          { $ref: '#/components/parameters/If-Match' },
        ],
        responses: {
          200: {
            description: 'OK',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } },
          },
          404: { $ref: '#/components/responses/Error404' },
        },
      },
    },
  },
  components: {
    parameters: { 'If-Match': { name: 'If-Match', in: 'header', schema: { type: 'string' } } },
    responses: { Error404: { description: 'There is no such resource' } },
    schemas: {
      Thing: {
        type: 'object',
        required: ['id'],
        properties: {
          id: { type: 'string', format: 'uuid' },
          state: { enum: ['on', 'off'], default: 'on' },
          parts: { type: 'array', items: { $ref: '#/components/schemas/Part' } },
          ended_at: { anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }] },
        },
      },
      Part: { type: 'object', properties: { n: { type: 'integer', description: 'How many' } } },
    },
  },
});

describe('operationsOf', () => {
  const [operation] = operationsOf(document);
  it('follows references to shared parameters and responses', () => {
    expect(operation?.parameters.map(each => each.name)).toEqual(['id', 'If-Match']);
    expect(operation?.responses.map(each => [each.status, each.description])).toEqual([
      ['200', 'OK'],
      ['404', 'There is no such resource'],
    ]);
  });
});

describe('fieldsOf', () => {
  const fields = fieldsOf({ $ref: '#/components/schemas/Thing' }, document);
  it('describes the type, whether the field is required, and the default', () => {
    expect(fields.map(field => [field.name, field.type, field.required, field.description])).toEqual([
      ['id', 'string (uuid)', true, ''],
      ['state', '"on" | "off"', false, 'Default "on".'],
      ['parts', 'object[]', false, ''],
      ['ended_at', 'string (date-time) or null', false, ''],
    ]);
  });
  it('returns the fields of the items of a list', () => {
    const inner = fields.find(field => field.name === 'parts')?.inner;
    expect(inner && fieldsOf(inner, document)).toMatchObject([{ name: 'n', type: 'integer', description: 'How many' }]);
    expect(fields.find(field => field.name === 'ended_at')?.inner).toBeNull();
  });
});

it('returns the type any for a schema without a type', () => expect(typeOf({}, document)).toBe('any'));
