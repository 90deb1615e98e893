import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../core/index.ts';
import { exampleValue } from './example-value.ts';

describe('an example of a schema', () => {
  test.each<[unknown, JsonValue]>([
    [{ type: 'string' }, 'example'],
    [{ type: 'string', format: 'email' }, 'someone@example.com'],
    [{ type: 'integer', minimum: 5 }, 5],
    [{ type: ['boolean', 'null'] }, true],
    [{ enum: ['a', 'b'] }, 'a'],
    [{ const: 0 }, 0],
    [{ type: 'number', default: 0 }, 0],
    [{ examples: [{ a: 1 }], type: 'object' }, { a: 1 }],
    [{ anyOf: [{ type: 'array', items: { type: 'number' } }] }, [1]],
    [{ properties: { a: { type: 'string' } } }, { a: 'example' }],
    [
      {
        $ref: '#/$defs/N',
        $defs: {
          N: { properties: { next: { $ref: '#/$defs/N' }, at: { $ref: '#/$defs/D' } } },
          D: { type: 'string', format: 'date' },
        },
      },
      { at: '2026-01-01' },
    ],
    [{ properties: { list: { type: 'array', items: { $ref: '#' } } } }, { list: [] }],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'example'],
    [undefined, null],
    [true, null],
  ])('%j is %j', (schema, expected) => {
    expect(exampleValue(schema)).toEqual(expected);
  });

  test('ends in a deeply nested schema', () => {
    let schema: unknown = { type: 'string' };
    for (let depth = 0; depth < 50; depth += 1) schema = { type: 'array', items: schema };
    expect(JSON.stringify(exampleValue(schema)).length).toBeLessThan(50);
  });

  test('ends in a schema whose fields may all refer to the root', () => {
    const names = Array.from({ length: 100 }, (_, n) => `f${n}`);
    const schema = { required: names, properties: Object.fromEntries(names.map(name => [name, { $ref: '#' }])) };
    expect(JSON.stringify(exampleValue(schema)).length).toBeLessThan(200_000);
  });
});
