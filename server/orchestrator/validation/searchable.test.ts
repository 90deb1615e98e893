import { afterAll, describe, expect, test } from 'vitest';
import type { Graph, JsonMap } from '../core/index.ts';
import { LuaPool } from '../languages/lua/index.ts';
import { createStepTypes } from '../steps/registry.ts';
import { checkShape, validateGraph } from './index.ts';

const luaPool = new LuaPool({ workers: 1 });
const types = createStepTypes({ luaPool });
afterAll(() => luaPool.close());
const scope = { tenantId: 'acme', projectId: '01900000-0000-7000-8000-000000000001' };
const graph = (searchable: unknown, more: Partial<Graph> = {}): Graph => ({
  steps: [{ id: 'a', type: 'condition', expression: 'true' }],
  searchable: searchable as JsonMap,
  ...more,
});
const codes = async (searchable: unknown, more: Partial<Graph> = {}) =>
  (await validateGraph(graph(searchable, more), types, scope)).errors.map(({ path, code }) => `${path}:${code}`);
const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, '{{input.n}}']));

describe('searchable fields', () => {
  test('read the input and results of steps, at any path', async () => {
    expect(
      await codes({
        order: '{{input.order.id}}',
        whole: '{{ steps.a.result }}',
        nth: '{{input.lines[2]["a b"] ?? "none"}}',
        'with-dash_1': '{{steps.a.result.branch}}',
        [`n${'a'.repeat(63)}`]: '{{input}}',
      }),
    ).toEqual([]);
  });

  test.each([
    ['a text without a template', 'order', 'invalid_field'],
    ['text around the template', 'No. {{input.order}}', 'invalid_field'],
    ['two templates', '{{input.a}}{{input.b}}', 'invalid_field'],
    ['two paths', '{{input.a ?? input.b}}', 'invalid_field'],
    ['no text', 1, 'invalid_field'],
    ['the error of a step', '{{steps.a.error.code}}', 'invalid_field'],
    ['the item of a loop', '{{item.id}}', 'invalid_field'],
    ['the number of an item', '{{index}}', 'invalid_field'],
    ['a malformed template', '{{input.}}', 'template_malformed'],
    ['a step that does not exist', '{{steps.b.result.id}}', 'unknown_step'],
  ])('cannot be %s', async (_, value, code) => {
    expect(await codes({ field: value })).toEqual([`searchable.field:${code}`]);
  });

  test.each(['', '1a', 'a b', 'a=b', 'ä', 'a'.repeat(65)])('cannot have the name %j', async name => {
    expect(await codes({ [name]: '{{input.a}}' })).toEqual([`searchable.${name}:invalid_field`]);
  });

  test('are at most ten', async () => {
    expect(await codes(many(9))).toEqual([]);
    expect(await codes(many(10))).toEqual([]);
    expect(await codes(many(11))).toEqual(['searchable:too_many_searchable']);
  });

  test('cannot be values that the input schema marks as secret', async () => {
    const input_schema = {
      type: 'object',
      properties: {
        order: { type: 'string' },
        card: { type: 'object', writeOnly: true, properties: { number: { type: 'string' } } },
        keys: { type: 'array', items: { type: 'string', writeOnly: true } },
      },
    };
    const secret = { card: '{{input.card}}', number: '{{input.card.number}}', key: '{{input.keys[0]}}' };
    expect(await codes({ order: '{{input.order}}', ...secret }, { input_schema })).toEqual(
      Object.keys(secret).map(name => `searchable.${name}:searchable_secret`),
    );
  });

  test('must be an object, even in a draft', () => {
    for (const value of ['order', ['order'], null])
      expect(checkShape(graph(value)).map(({ path, code }) => `${path}:${code}`)).toEqual([
        'searchable:field_not_object',
      ]);
    expect(checkShape(graph({ order: 'not yet a template' }))).toEqual([]);
  });
});
