import { describe, expect, test } from 'vitest';
import type { Json } from '@/server/platform/json.ts';
import { argumentText, readArgument, type ToolArgument, toolArguments, withArgument } from './tool-arguments.ts';

test('the arguments of a tool are read from its schema, required ones first', () => {
  const schema = {
    properties: {
      limit: { type: 'integer', description: 'At most' },
      order: { enum: ['asc', 'desc'] },
      query: { type: 'string', title: 'Question' },
      deep: { type: 'boolean' },
    },
    required: ['query'],
  };
  expect(toolArguments(schema).map(({ name, label, kind }) => [name, label, kind])).toEqual([
    ['query', 'Question', 'text'],
    ['limit', 'limit', 'json'],
    ['order', 'order', 'choice'],
    ['deep', 'deep', 'flag'],
  ]);
  expect(toolArguments({})).toEqual([]);
  expect(toolArguments({ properties: { odd: true } })).toMatchObject([{ name: 'odd', kind: 'json' }]);
});

describe('the text of an argument', () => {
  test.each<[ToolArgument['kind'], string, Json | undefined]>([
    ['text', '42', '42'],
    ['json', '42', 42],
    ['json', '{{input.n}}', '{{input.n}}'],
    ['json', '["a"]', ['a']],
    ['json', '', undefined],
  ])('of kind %s, %j, is %j', (kind, text, value) => {
    expect(readArgument({ kind }, text)).toEqual(value);
    expect(argumentText(value)).toBe(text);
  });
});

test('an argument keeps its position, and removing the last argument removes all', () => {
  expect(JSON.stringify(withArgument({ a: 1, b: 2 }, 'a', 3))).toBe('{"a":3,"b":2}');
  expect(withArgument({ a: 1 }, 'b', 2)).toEqual({ a: 1, b: 2 });
  expect(withArgument({ a: 1 }, 'a', undefined)).toBeUndefined();
});

test('references in the schema of a tool are resolved', () => {
  const schema = {
    $ref: '#/$defs/Search',
    $defs: {
      Search: {
        properties: {
          order: { $ref: '#/$defs/Order', title: 'Sort' },
          query: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        },
      },
      Order: { enum: ['asc', 'desc'], title: 'Order' },
    },
  };
  expect(toolArguments(schema)).toMatchObject([
    { name: 'order', label: 'Sort', kind: 'choice', choices: ['asc', 'desc'] },
    { name: 'query', kind: 'text' },
  ]);
});
