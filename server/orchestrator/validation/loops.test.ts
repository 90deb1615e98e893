import { afterAll, describe, expect, test } from 'vitest';
import type { Graph, GraphStep, JsonValue } from '../core/index.ts';
import { LuaPool } from '../languages/lua/index.ts';
import { createStepTypes } from '../steps/registry.ts';
import { checkShape, validateGraph, validateOverrides } from './index.ts';

const pool = new LuaPool({ workers: 1 });
const types = createStepTypes({ luaPool: pool });
afterAll(() => pool.close());
const scope = { tenantId: 'acme', projectId: '01900000-0000-7000-8000-000000000001' };

const lua = (id: string, script = 'return 1', more: Partial<GraphStep> = {}): GraphStep => ({
  id,
  type: 'lua_script',
  script,
  ...more,
});
const task = (id: string, instructions: string, more: Partial<GraphStep> = {}): GraphStep => ({
  id,
  type: 'human_task',
  instructions,
  ...more,
});
const when = (id: string, expression: string, more: Partial<GraphStep> = {}): GraphStep => ({
  id,
  type: 'condition',
  expression,
  ...more,
});
const eachStep = (steps: unknown, more: Partial<GraphStep> = {}): GraphStep => ({
  id: 'each',
  type: 'for_each',
  items: '{{input.list}}',
  steps: steps as JsonValue,
  ...more,
});
const graph = (...steps: GraphStep[]): Graph => ({ steps });
const report = (value: Graph) => validateGraph(value, types, scope);
const codes = async (value: Graph) => (await report(value)).errors.map(e => `${e.step_id}:${e.path}:${e.code}`);

describe('a loop', () => {
  const good: [string, Graph][] = [
    ['over a template', graph(eachStep([lua('a')]))],
    ['over an expression', graph(eachStep([lua('a')], { items: 'input.list.filter(x, x > 1)' }))],
    ['over a result', graph(lua('l'), eachStep([lua('a')], { items: '{{steps.l.result}}', depends_on: ['l'] }))],
    ['with 100 at a time', graph(eachStep([lua('a')], { concurrency: 100 }))],
    ['that continues', graph(eachStep([lua('a')], { on_item_error: 'continue' }))],
    [
      'that reads its item everywhere',
      graph(
        eachStep([
          task('t', '{{item.name}} of {{index}}', { name: '{{item.name}}' }),
          when('c', 'item.n > index', { depends_on: ['t'] }),
          lua('l', 'return item.n + index + {{item.n}}', { depends_on: ['c'] }),
        ]),
      ),
    ],
    [
      'that reads what comes before it and within it',
      graph(
        lua('before'),
        eachStep(
          [task('a', '{{steps.before.result}}'), lua('b', 'return {{steps.a.result.approved}}', { depends_on: ['a'] })],
          { depends_on: ['before'] },
        ),
      ),
    ],
    ['in a loop', graph(eachStep([eachStep([task('a', '{{item}}')], { id: 'inner', items: '{{item.list}}' })]))],
    ['beside another with the same ids', graph(eachStep([lua('a')]), eachStep([lua('a')], { id: 'other' }))],
    [
      'whose condition branches',
      graph(eachStep([when('c', 'item', { then: ['y'] }), lua('y', 'return 1', { depends_on: ['c'] })])),
    ],
  ];
  test.each(good)('%s is valid', async (_, value) => expect(await codes(value)).toEqual([]));

  const bad: [string, Graph, string[]][] = [
    ['no items', graph(eachStep([lua('a')], { items: undefined as never })), ['each:items:missing_field']],
    ['items a list', graph(eachStep([lua('a')], { items: [1] })), ['each:items:invalid_field']],
    ['no steps', graph(eachStep(undefined)), ['each:steps:missing_field']],
    ['an empty graph', graph(eachStep([])), ['each:steps:invalid_field']],
    ['steps no list', graph(eachStep({ a: 1 })), ['each:steps:invalid_field']],
    ['a step that is none', graph(eachStep(['a'])), ['each:steps[0]:invalid_field']],
    ['concurrency 0', graph(eachStep([lua('a')], { concurrency: 0 })), ['each:concurrency:invalid_field']],
    ['concurrency 101', graph(eachStep([lua('a')], { concurrency: 101 })), ['each:concurrency:invalid_field']],
    ['concurrency 1.5', graph(eachStep([lua('a')], { concurrency: 1.5 })), ['each:concurrency:invalid_field']],
    ['another mode', graph(eachStep([lua('a')], { on_item_error: 'skip' })), ['each:on_item_error:invalid_field']],
    ['an unknown field', graph(eachStep([lua('a')], { parallel: 2 })), ['each:parallel:unknown_field']],
    ['retries', graph(eachStep([lua('a')], { retry_count: 1 })), ['each:retry_count:retries_not_supported']],
    ['text and a template', graph(eachStep([lua('a')], { items: 'x {{input.l}}' })), ['each:items:items_ambiguous']],
    ['a malformed template', graph(eachStep([lua('a')], { items: '{{input' })), ['each:items:template_malformed']],
    ['a malformed expression', graph(eachStep([lua('a')], { items: 'input.' })), ['each:items:expression_malformed']],
    ['items of no step', graph(eachStep([lua('a')], { items: '{{steps.x.result}}' })), ['each:items:unknown_step']],
    [
      'items of a later step',
      graph(eachStep([lua('a')], { items: 'steps.x.result' }), lua('x')),
      ['each:items:not_an_ancestor'],
    ],
    ['items of its own', graph(eachStep([lua('a')], { items: '{{item}}' })), ['each:items:item_outside_loop']],
    ['an expression of its own', graph(eachStep([lua('a')], { items: 'item' })), ['each:items:item_outside_loop']],
  ];
  test.each(bad)('with %s is refused', async (_, value, expected) => expect(await codes(value)).toEqual(expected));
});

describe('the steps of a loop', () => {
  const bad: [string, Graph, string[]][] = [
    ['a wrong type', graph(eachStep([{ id: 'a', type: 'x' }])), ['each:steps[0].type:unknown_type']],
    ['a malformed id', graph(eachStep([lua('a.b')])), ['each:steps[0].id:invalid_field']],
    ['a field of the wrong type', graph(eachStep([lua('a', 1 as never)])), ['each:steps[0].script:invalid_field']],
    [
      'an unknown field',
      graph(eachStep([lua('a', 'return 1', { scirpt: '' })])),
      ['each:steps[0].scirpt:unknown_field'],
    ],
    [
      'a script that does not compile',
      graph(eachStep([lua('a'), lua('b', 'return (')])),
      ['each:steps[1].script:lua_syntax'],
    ],
    [
      'an unknown dependency',
      graph(eachStep([lua('a', 'return 1', { depends_on: ['x'] })])),
      ['each:steps[0].depends_on[0]:unknown_dependency'],
    ],
    [
      'a dependency outside',
      graph(lua('out'), eachStep([lua('a', 'return 1', { depends_on: ['out'] })])),
      ['each:steps[0].depends_on[0]:unknown_dependency'],
    ],
    ['a cycle', graph(eachStep([lua('a', 'return 1', { depends_on: ['a'] })])), ['each:steps[0].depends_on:cycle']],
    ['two of one id', graph(eachStep([lua('a'), lua('a')])), ['each:steps[0].id:duplicate_step_id']],
    ['the id of a step outside', graph(lua('a'), eachStep([lua('a')])), ['each:steps[0].id:duplicate_step_id']],
    ['the id of its loop', graph(eachStep([lua('each')])), ['each:steps[0].id:duplicate_step_id']],
    [
      'a read of a step that is no ancestor',
      graph(eachStep([lua('b'), task('a', '{{steps.b.result}}')])),
      ['each:steps[1].instructions:not_an_ancestor'],
    ],
    [
      'a read of a step outside that is no ancestor',
      graph(lua('b'), eachStep([task('a', '{{steps.b.result}}')])),
      ['each:steps[0].instructions:not_an_ancestor'],
    ],
    [
      'a read of its own loop',
      graph(eachStep([when('a', 'steps.each.result == 1')])),
      ['each:steps[0].expression:not_an_ancestor'],
    ],
    [
      'a read of another loop',
      graph(eachStep([lua('a')]), eachStep([task('b', '{{steps.a.result}}')], { id: 'other', depends_on: ['each'] })),
      ['other:steps[0].instructions:step_in_loop'],
    ],
    ['a gate', graph(eachStep([lua('a', 'return 1', { gated: true })])), ['each:steps[0].gated:not_in_loop']],
    [
      'open fields',
      graph(eachStep([lua('a', 'return 1', { overridable: ['name'] })])),
      ['each:steps[0].overridable:not_in_loop'],
    ],
    [
      'a loop in a loop in a loop',
      graph(eachStep([eachStep([eachStep([lua('a')], { id: 'three' })], { id: 'two' })])),
      ['each:steps[0].steps[0].type:loops_nested_too_deep'],
    ],
    [
      'a mistake two loops deep',
      graph(eachStep([eachStep([lua('a', 'return (')], { id: 'two' })])),
      ['each:steps[0].steps[0].script:lua_syntax'],
    ],
  ];
  test.each(bad)('%s is refused', async (_, value, expected) => expect(await codes(value)).toEqual(expected));

  test.each([
    [task('a', '{{item}}'), 'a:instructions:item_outside_loop'],
    [task('a', '{{index}}'), 'a:instructions:item_outside_loop'],
    [when('a', 'item.n == 1'), 'a:expression:item_outside_loop'],
    [when('a', 'index == 1'), 'a:expression:item_outside_loop'],
    [task('a', '{{steps.inner.result}}'), 'a:instructions:step_in_loop'],
  ])('%o outside of a loop is refused', async (step, expected) => {
    expect(await codes(graph(eachStep([lua('inner')]), step))).toEqual([expected]);
  });

  test('the variables of a comprehension are also local outside of loops', async () => {
    expect(await codes(graph(when('a', 'input.list.all(item, item > 0)')))).toEqual([]);
  });

  test('that a script asks for by name and that do not come before it are warned of', async () => {
    const { warnings } = await report(graph(eachStep([lua('a', 'return steps.nothing')])));
    expect(warnings.map(e => `${e.step_id}:${e.path}:${e.code}`)).toEqual(['each:steps[0].script:unknown_step']);
  });
});

describe('limits', () => {
  const many = (count: number) => Array.from({ length: count }, (_, n) => lua(`s${n}`));
  test('the steps of loops count as those of the graph', () => {
    expect(checkShape(graph(eachStep(many(1_999))))).toEqual([]);
    expect(checkShape(graph(eachStep(many(2_000)))).map(({ code }) => code)).toEqual(['too_many_steps']);
    const fields = Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`f${n}`, 1]));
    expect(checkShape(graph(eachStep([lua('a', '', fields)]))).map(({ code }) => code)).toEqual(['too_many_fields']);
  });

  test('more steps at a time than a run may have are warned of', async () => {
    const warned = async (count: number) =>
      (await report(graph(eachStep(many(count), { concurrency: 100 })))).warnings.map(({ code }) => code);
    expect(await warned(100)).toEqual([]);
    expect(await warned(101)).toEqual(['too_many_steps_at_once']);
  });

  test('a run cannot override the steps of a loop, nor the handling of their failures', async () => {
    const problems = await validateOverrides(
      graph(eachStep([lua('a')])),
      { each: { steps: [], on_item_error: 'continue', concurrency: 101 } },
      types,
      scope,
    );
    expect(problems.map(({ path, code }) => `${path}:${code}`).sort()).toEqual([
      'concurrency:invalid_field',
      'on_item_error:not_overridable',
      'steps:not_overridable',
    ]);
  });
});
