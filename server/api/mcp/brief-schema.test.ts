import { expect, test } from 'vitest';
import { Id } from '../../operation/wire.ts';
import { briefSchema } from './brief-schema.ts';

test('leaves out redundant and limiting keywords, and keeps those needed to write arguments', () => {
  const id = { type: 'string', format: 'uuid', pattern: '^[0-9a-f-]+$', description: Id.meta()?.description ?? '' };
  const schema = {
    type: 'object',
    properties: {
      id,
      limit: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
      name: { type: 'string', minLength: 1, maxLength: 200, pattern: '\\S', description: 'Shown in lists' },
      code: { type: 'string', pattern: '^[a-z]+$', examples: ['a'] },
      pattern: { type: 'string', enum: ['a', 'b'] },
      list: { type: 'array', maxItems: 3, items: { anyOf: [id, { const: 'x' }] } },
    },
    required: ['id'],
    additionalProperties: false,
    $defs: { deep: { type: 'object', required: [], additionalProperties: { type: 'string', maxLength: 1 } } },
  };
  expect(briefSchema(schema)).toEqual({
    type: 'object',
    properties: {
      id: { type: 'string', format: 'uuid' },
      limit: { type: 'integer', maximum: 200, default: 50 },
      name: { type: 'string', description: 'Shown in lists' },
      code: { type: 'string', pattern: '^[a-z]+$' },
      pattern: { type: 'string', enum: ['a', 'b'] },
      list: { type: 'array', items: { anyOf: [{ type: 'string', format: 'uuid' }, { const: 'x' }] } },
    },
    required: ['id'],
    $defs: { deep: { type: 'object', additionalProperties: { type: 'string' } } },
  });
});
