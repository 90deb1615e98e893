import { afterAll, describe, expect, test } from 'vitest';
import type { Graph, GraphStep, JsonValue } from '../core/index.ts';
import { LuaPool } from '../languages/lua/index.ts';
import { createStepTypes } from '../steps/registry.ts';
import { nearest } from './hints.ts';
import { validateGraph } from './index.ts';

const pool = new LuaPool({ workers: 1 });
const types = createStepTypes({ luaPool: pool });
afterAll(() => pool.close());
const scope = { tenantId: 'acme', projectId: '01900000-0000-7000-8000-000000000001' };
const lua = (id: string, more: Partial<GraphStep> = {}): GraphStep => ({
  id,
  type: 'lua_script',
  script: 'return 1',
  ...more,
});
const task = (id: string, more: Partial<GraphStep>): GraphStep => ({ id, type: 'human_task', ...more });

async function hintsOf(graph: Graph): Promise<Record<string, string | undefined>> {
  const { errors } = await validateGraph(graph, types, scope);
  return Object.fromEntries(errors.map(({ code, hint }) => [code, hint]));
}

describe('a problem of a graph has a hint', () => {
  test.each<[string, GraphStep[], string, string]>([
    ['a dependency with a typo', [lua('fetch'), lua('b', { depends_on: ['fetsh'] })], 'unknown_dependency', '"fetch"'],
    ['a dependency on nothing known', [lua('a', { depends_on: ['zzzzzz'] })], 'unknown_dependency', 'depends_on'],
    [
      'a template with a typo',
      [lua('fetch'), task('b', { name: '{{steps.Fetch.result}}' })],
      'unknown_step',
      '"fetch"',
    ],
    [
      'a step that does not come before',
      [lua('a'), task('b', { name: '{{steps.a.result}}' })],
      'not_an_ancestor',
      '"a"',
    ],
    ['a field with a typo', [task('a', { assignee: ['x'] })], 'unknown_field', '"assignees"'],
    ['a field that no type has', [task('a', { quite_another: 1 })], 'unknown_field', 'instructions'],
    ['a missing field', [{ id: 'a', type: 'lua_script' }], 'missing_field', 'Set script.'],
    ['a type with a typo', [{ id: 'a', type: 'lua-script' }], 'unknown_type', '"lua_script"'],
    ['a cycle', [lua('a', { depends_on: ['b'] }), lua('b', { depends_on: ['a'] })], 'cycle', 'depends_on'],
    ['no steps', [], 'no_steps', 'Add a step.'],
  ])('%s', async (_, steps, code, said) => {
    expect((await hintsOf({ steps }))[code]).toContain(said);
  });

  test('also in a loop, and in the output', async () => {
    const steps = [lua('in'), lua('on', { depends_on: ['inn'] })] as JsonValue[];
    const loop: GraphStep = { id: 'l', type: 'for_each', items: '{{input.x}}', steps };
    const output = { x: '{{steps.lopp.result}}' };
    expect(await hintsOf({ steps: [loop, lua('loop')], output })).toMatchObject({
      unknown_dependency: expect.stringContaining('Remove it'),
      unknown_step: 'Did you mean "loop"?',
    });
  });
});

describe('the nearest name', () => {
  test.each<[string, string[], string | undefined]>([
    ['fetch_orders', ['fetchOrders', 'fetch'], 'fetchOrders'],
    ['fetch', ['fetsch', 'fatsch'], 'fetsch'],
    ['fetch', ['patch'], undefined],
    ['abcdef', ['abxyef'], 'abxyef'],
    ['abcdef', ['axxxef'], undefined],
    ['ab', ['ac'], undefined],
    ['ab', ['A-B'], 'A-B'],
  ])('of %s among %s is %s', (name, names, expected) => {
    expect(nearest(name, names)).toBe(expected);
  });

  test('is sought among 300 names of at most 64 letters', () => {
    const otherNames = (count: number) => Array.from({ length: count }, (_, n) => `other-name-${n}`);
    expect(nearest('target', [...otherNames(299), 'targets'])).toBe('targets');
    expect(nearest('target', [...otherNames(300), 'targets'])).toBeUndefined();
    expect(nearest('x'.repeat(64), ['x'.repeat(63)])).toBe('x'.repeat(63));
    expect(nearest('x'.repeat(65), ['x'.repeat(64)])).toBeUndefined();
  });
});
