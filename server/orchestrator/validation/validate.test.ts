import { afterAll, describe, expect, test } from 'vitest';
import type { Graph, GraphStep } from '../core/index.ts';
import { LuaPool } from '../languages/lua/index.ts';
import { createStepTypes } from '../steps/registry.ts';
import { checkShape, isWithin, MAX_PROBLEMS, ProblemList, validateGraph, validateOverrides } from './index.ts';

const pool = new LuaPool({ workers: 2 });
const types = createStepTypes({ luaPool: pool });
afterAll(() => pool.close());
const scope = { tenantId: 'acme', projectId: '01900000-0000-7000-8000-000000000001' };

const lua = (id: string, more: Partial<GraphStep> = {}): GraphStep => ({
  id,
  type: 'lua_script',
  script: 'return 1',
  ...more,
});
const when = (id: string, expression: string, more: Partial<GraphStep> = {}): GraphStep => ({
  id,
  type: 'condition',
  expression,
  ...more,
});
const task = (id: string, more: Partial<GraphStep> = {}): GraphStep => ({ id, type: 'human_task', ...more });
const graph = (...steps: GraphStep[]): Graph => ({ steps });
const codes = async (value: Graph) =>
  (await validateGraph(value, types, scope)).errors.map(e => `${e.step_id}:${e.path}:${e.code}`);

describe('shape', () => {
  test.each([
    ['a graph that is null', null, 'graph_shape'],
    ['no steps', {}, 'graph_shape'],
    ['steps that are not an array', { steps: {} }, 'graph_shape'],
    ['another field', { steps: [], edges: [] }, 'unknown_field'],
    ['notes that are not an array', { steps: [], notes: {} }, 'notes_shape'],
    ['a note that is a text', { steps: [], notes: ['a'] }, 'notes_shape'],
    ['201 notes', { steps: [], notes: Array.from({ length: 201 }, (_, id) => ({ id })) }, 'notes_shape'],
    ['two notes of one id', { steps: [], notes: [{ id: 'n' }, { id: 'n' }] }, 'duplicate_note'],
    ['NUL in a note', { steps: [], notes: [{ id: 'n', text: '\0' }] }, 'text_not_storable'],
    ['NUL in the output', { steps: [], output: { a: ['\0'] } }, 'text_not_storable'],
    ['a step that is a text', { steps: ['a'] }, 'step_not_object'],
    ['an id that is a number', { steps: [{ id: 1, type: 'x' }] }, 'field_not_string'],
    ['no type', { steps: [{ id: 'a' }] }, 'field_not_string'],
    ['2,001 steps', { steps: Array.from({ length: 2001 }, (_, n) => ({ id: `s${n}`, type: 'x' })) }, 'too_many_steps'],
    ['over 1 MiB', { steps: [{ id: 'a', type: 'x', script: 'é'.repeat(600_000) }] }, 'graph_too_large'],
    ['NUL', { steps: [{ id: 'a', type: 'x', script: 'a\0' }] }, 'text_not_storable'],
  ])('%s is refused', (_, value, code) => {
    expect(checkShape(value).map(item => item.code)).toContain(code);
  });
  test('depth is refused without exhausting the stack', () => {
    let deep: unknown = 1;
    for (let n = 0; n < 100_000; n++) deep = [deep];
    expect(checkShape({ steps: [{ id: 'a', type: 'x', v: deep }] }).map(item => item.code)).toEqual([
      'nested_too_deep',
    ]);
    expect(checkShape({ steps: [], output: deep }).map(item => item.code)).toEqual(['nested_too_deep']);
  });
  test('semantic problems do not hinder a draft', () => {
    expect(checkShape(graph(lua('1 bad id', { type: 'nothing', timeout_s: -1 })))).toEqual([]);
  });
});

describe('every rule', () => {
  const cases: [string, Graph, string[]][] = [
    ['an empty graph', graph(), ['null:steps:no_steps']],
    ['a good graph', graph(lua('a'), when('b', 'steps.a.result == 1', { depends_on: ['a'] })), []],
    ['a malformed id', graph(lua('1a')), ['1a:id:invalid_field']],
    ['a duplicate id', graph(lua('a'), lua('a')), ['a:id:duplicate_step_id']],
    ['an unknown type', graph({ id: 'a', type: 'x' }), ['a:type:unknown_type']],
    [
      'an unavailable type',
      graph({ id: 'a', type: 'llm_call', model: 'm/x', prompt: 'p' }),
      ['a:type:type_unavailable'],
    ],
    ['a missing field', graph({ id: 'a', type: 'lua_script' }), ['a:script:missing_field']],
    ['an unknown field', graph(lua('a', { scirpt: 'x' })), ['a:scirpt:unknown_field']],
    ['a field of the wrong type', graph(lua('a', { script: 1 })), ['a:script:invalid_field']],
    ['timeout 0', graph(lua('a', { timeout_s: 0 })), ['a:timeout_s:invalid_field']],
    ['timeout over a day', graph(lua('a', { timeout_s: 86_401 })), ['a:timeout_s:invalid_field']],
    ['timeout of a day', graph(lua('a', { timeout_s: 86_400 })), []],
    ['11 retries', graph(lua('a', { retry_count: 11 })), ['a:retry_count:invalid_field']],
    [
      'a script opened to overrides',
      graph({ ...lua('a'), overridable: ['script'] }),
      ['a:overridable[0]:not_openable'],
    ],
    ['data opened to overrides', graph({ ...lua('a'), overridable: ['name', 'timeout_s', 'retry_count'] }), []],
    ['an unknown field opened', graph(task('a', { overridable: ['name', 'x'] })), ['a:overridable[1]:not_openable']],
    ['a decision opened', graph(task('a', { overridable: ['assignees'] })), ['a:overridable[0]:not_openable']],
    [
      'retries of a person opened',
      graph(task('a', { overridable: ['retry_count'] })),
      ['a:overridable[0]:not_openable'],
    ],
    ['no list of opened fields', graph(task('a', { overridable: 'name' as never })), ['a:overridable:invalid_field']],
    ['retries of a person', graph(task('a', { retry_count: 1 })), ['a:retry_count:retries_not_supported']],
    ['an unknown dependency', graph(lua('a', { depends_on: ['z'] })), ['a:depends_on[0]:unknown_dependency']],
    [
      'a dependency twice',
      graph(lua('a'), lua('b', { depends_on: ['a', 'a'] })),
      ['b:depends_on[1]:duplicate_dependency'],
    ],
    ['Lua that does not compile', graph(lua('a', { script: 'x = = 1' })), ['a:script:lua_syntax']],
    ['CEL that does not parse', graph(when('a', 'input.x +')), ['a:expression:expression_malformed']],
    [
      'CEL that reads a step that is no ancestor',
      graph(lua('a'), when('b', 'steps.a.result')),
      ['b:expression:not_an_ancestor'],
    ],
    ['CEL that reads an unknown step', graph(when('b', 'steps.a.result')), ['b:expression:unknown_step']],
    ['a template in CEL', graph(when('b', '{{input.x}} == 1')), ['b:expression:template_in_expression']],
    [
      'a template that reads a step that is no ancestor',
      graph(lua('a'), task('b', { instructions: '{{steps.a.result}}' })),
      ['b:instructions:not_an_ancestor'],
    ],
    [
      'a script that reads a step that is no ancestor',
      graph(lua('a'), lua('b', { script: 'return {{steps.a.result}}' })),
      ['b:script:not_an_ancestor'],
    ],
    [
      'a step that is no ancestor, after ??',
      graph(
        lua('a'),
        lua('c'),
        task('b', { depends_on: ['a'], instructions: '{{steps.a.result ?? steps.c.result ?? steps.x.result}}' }),
      ),
      ['b:instructions:not_an_ancestor', 'b:instructions:unknown_step'],
    ],
    [
      'a script that reads an unknown step after ??',
      graph(lua('a'), lua('b', { depends_on: ['a'], script: 'return {{steps.a.result ?? steps.x.result}}' })),
      ['b:script:unknown_step'],
    ],
    [
      'templates in keys',
      graph(
        lua('a'),
        task('b', { form: { properties: { '{{steps.a.result}}': {}, deep: { '{{oops}}': [{ '{{item.x}}': 1 }] } } } }),
      ),
      [
        'b:form.properties.{{steps.a.result}}:not_an_ancestor',
        'b:form.properties.deep.{{oops}}:template_malformed',
        'b:form.properties.deep.{{oops}}[0].{{item.x}}:item_outside_loop',
      ],
    ],
    ['a malformed template', graph(task('b', { instructions: '{{input.}}' })), ['b:instructions:template_malformed']],
    [
      'a malformed template deep in a form',
      graph(task('b', { form: { properties: { x: { default: '{{oops}}' } } } })),
      ['b:form.properties.x.default:template_malformed'],
    ],
    [
      'a form that is no schema',
      graph(task('b', { form: { type: 'objekt' } })),
      ['b:form.type:form_invalid', 'b:form.type:form_invalid'],
    ],
    [
      'a backtracking pattern',
      graph(task('b', { form: { properties: { x: { pattern: '(a)\\1' } } } })),
      ['b:form.properties.x.pattern:form_invalid'],
    ],
    ['an invalid assignee', graph(task('b', { assignees: ['bob'] })), ['b:assignees[0]:assignee_invalid']],
    ['a branch to no dependent', graph(when('a', 'true', { then: ['b'] }), lua('b')), ['a:then[0]:not_a_dependent']],
    [
      'a step twice in a branch',
      graph(when('a', 'input.x', { then: ['b'], else: ['b', 'b'] }), lua('b', { depends_on: ['a'] })),
      ['a:else[1]:branch_named_twice'],
    ],
    [
      'branches of a validation',
      graph(when('a', 'input.x', { mode: 'validate', then: ['b'] }), lua('b', { depends_on: ['a'] })),
      ['a:then:branch_in_validation'],
    ],
  ];
  test.each(cases)('%s', async (_, value, expected) => {
    expect(await codes(value)).toEqual(expected);
  });
  test('a cycle is named once, in the order of the run', async () => {
    const { errors } = await validateGraph(
      graph(lua('a', { depends_on: ['b'] }), lua('b', { depends_on: ['a'] }), lua('c')),
      types,
      scope,
    );
    expect(errors).toHaveLength(1);
    expect(errors[0]?.code).toBe('cycle');
    expect(errors[0]?.message).toMatch(/a → b → a|b → a → b/);
  });
  test('a step that depends on itself is a cycle', async () => {
    const { errors } = await validateGraph(graph(lua('a', { depends_on: ['a'] })), types, scope);
    expect(errors.map(item => item.message)).toEqual(['the steps wait for each other: a → a']);
  });
  test('a step may be in both branches, and branches may meet again', async () => {
    const both = graph(when('a', 'input.x', { then: ['b'], else: ['b'] }), lua('b', { depends_on: ['a'] }));
    const rejoined = graph(
      when('c', 'input.x', { then: ['a'], else: ['m'] }),
      lua('a', { depends_on: ['c'] }),
      lua('m', { depends_on: ['a', 'c'] }),
    );
    for (const value of [both, rejoined])
      expect(await validateGraph(value, types, scope)).toEqual({ valid: true, errors: [], warnings: [] });
  });
  const guarded = lua('b', { depends_on: ['a', 'c'] });
  test.each([
    [
      'that a step before the condition also leads to',
      graph(lua('a'), when('c', 'true == input.x', { then: ['b'], depends_on: ['a'] }), guarded),
    ],
    [
      'that another condition leads to in both branches',
      graph(when('a', 'input.y', { then: ['b'], else: ['b'] }), when('c', 'input.x', { then: ['b'] }), guarded),
    ],
    [
      'that another condition leads to without naming it',
      graph(when('a', 'input.y'), when('c', 'input.x', { then: ['b'] }), guarded),
    ],
    [
      'that a step leads to which always comes after another',
      graph(lua('z'), lua('a', { depends_on: ['z'] }), when('c', 'input.x', { then: ['b'] }), guarded),
    ],
  ])('a branch to a step %s is without effect', async (_, value) => {
    const { valid, warnings } = await validateGraph(value, types, scope);
    expect(valid).toBe(true);
    expect(warnings.map(item => `${item.step_id}:${item.path}:${item.code}`)).toEqual([
      'c:then[0]:branch_without_effect',
    ]);
    expect(warnings[0]?.message).toContain('"b" runs whichever branch is taken, because it also depends on "a"');
  });
  test.each([
    [
      'of another condition',
      graph(when('a', 'input.y', { then: ['b'] }), when('c', 'input.x', { then: ['b'] }), guarded),
    ],
    [
      'after a branch',
      graph(
        when('z', 'input.y', { then: ['a'] }),
        lua('a', { depends_on: ['z'] }),
        when('c', 'input.x', { then: ['b'] }),
        guarded,
      ),
    ],
    [
      'beside a step that does not exist',
      graph(when('c', 'input.x', { then: ['b'] }), lua('b', { depends_on: ['a', 'c'] })),
    ],
  ])('a branch to a step %s has an effect', async (_, value) => {
    const { warnings } = await validateGraph(value, types, scope);
    expect(warnings).toEqual([]);
  });
  test('warnings leave the graph valid', async () => {
    const report = await validateGraph(
      graph(
        when('a', 'true', { else: ['b'] }),
        lua('b', { depends_on: ['a'], script: 'return steps.zz' }),
        task('t', { on_timeout: 'approve' }),
      ),
      types,
      scope,
    );
    expect(report.valid).toBe(true);
    expect(report.warnings.map(item => item.code)).toEqual(['unreachable_branch', 'unknown_step', 'timeout_never']);
  });
  test('a disabled step whose external dependencies are missing causes a warning', async () => {
    const problem = { path: 'instance_id', code: 'unknown_instance', message: 'there is no such instance' };
    const tools = { check: async () => [problem], call: () => Promise.reject(new Error('not called')) };
    const withTools = createStepTypes({ luaPool: pool, tools });
    const call = (disabled: boolean) =>
      graph({ id: 'a', type: 'mcp_call', tool_name: 't', instance_id: 'i', disabled });
    expect(await validateGraph(call(false), withTools, scope)).toMatchObject({ valid: false, errors: [problem] });
    expect(await validateGraph(call(true), withTools, scope)).toMatchObject({ valid: true, warnings: [problem] });
  });
  test('a chain of 2,000 steps, each reading its first ancestor, is valid', async () => {
    const steps = Array.from({ length: 2000 }, (_, n) =>
      lua(`s${n}`, n === 0 ? {} : { depends_on: [`s${n - 1}`], script: `return {{steps.s0.result}} + ${n}` }),
    );
    expect(await validateGraph({ steps: steps.reverse() }, types, scope)).toEqual({
      valid: true,
      errors: [],
      warnings: [],
    });
  });
  test('a large graph lets other work use the event loop in between', async () => {
    const steps = Array.from({ length: 1000 }, (_, n) => when(`s${n}`, 'true'));
    let turns = 0;
    let ended = false;
    const countTurns = () => {
      turns += 1;
      if (!ended) setImmediate(countTurns);
    };
    setImmediate(countTurns);
    expect((await validateGraph({ steps }, types, scope)).valid).toBe(true);
    ended = true;
    expect(turns).toBeGreaterThanOrEqual(9);
  });
});

describe('the output', () => {
  const withOutput = (output: NonNullable<Graph['output']>): Graph => ({ ...graph(lua('a'), lua('b')), output });

  test.each<[string, NonNullable<Graph['output']>, string[]]>([
    ['any step, and the input', { a: '{{steps.a.result.x}} {{input.y}}', b: ['{{steps.b.error ?? 1}}'] }, []],
    ['nothing', 5, []],
    ['a step that is not there', { a: ['{{steps.c.result}}'] }, ['null:output.a[0]:unknown_step']],
    [
      'the item of a loop',
      ['{{item.id}}', '{{index}}'],
      ['null:output[0]:item_outside_loop', 'null:output[1]:item_outside_loop'],
    ],
    ['something else', 'x {{env.HOME}}', ['null:output:template_malformed']],
    ['a template that is not closed', { a: '{{input' }, ['null:output.a:template_malformed']],
  ])('reads %s', async (_, output, expected) => {
    expect(await codes(withOutput(output))).toEqual(expected);
  });
});

describe('the input schema', () => {
  const withSchema = (schema: NonNullable<Graph['input_schema']>): Graph => ({
    ...graph(lua('a')),
    input_schema: schema,
  });
  const pattern = '[a-z]{1000}';
  const patterns = (count: number) => ({
    properties: Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, { pattern: `${n}${pattern}` }])),
  });

  test.each<[string, NonNullable<Graph['input_schema']>, string[]]>([
    ['of an object', { type: 'object', required: ['a'], properties: { a: { type: 'string' } } }, []],
    ['of anything', {}, []],
    ['of a text', { type: 'string' }, ['null:input_schema.type:input_schema_invalid']],
    ['with a reference', { $ref: '#' }, ['null:input_schema.$ref:input_schema_invalid']],
    [
      'with a keyword deep inside',
      { properties: { a: { min: 1 } } },
      ['null:input_schema.properties.a.min:input_schema_invalid'],
    ],
    ['of 65,536 characters', { title: 'x'.repeat(65_536 - 12) }, []],
    ['of 65,537 characters', { title: 'x'.repeat(65_536 - 11) }, ['null:input_schema:input_schema_too_large']],
    ['with patterns that fit', patterns(3), []],
    ['with patterns that do not', patterns(4), ['null:input_schema.properties.p3.pattern:input_schema_invalid']],
  ])('%s', async (_, schema, expected) => {
    expect(await codes(withSchema(schema))).toEqual(expected);
  });

  test('must be an object', () => {
    for (const input_schema of [null, [], 'x', 1, true]) {
      expect(checkShape({ steps: [], input_schema }).map(item => item.code)).toEqual(['field_not_object']);
    }
  });
});

describe('the failure handler', () => {
  const withHandler = (on_failure: unknown) => ({ ...graph(lua('a')), on_failure }) as Graph;
  const workflow_id = '01a207b0-c923-7219-988d-c5b2e9d18ec5';

  test.each<[string, unknown, string[]]>([
    ['with the id of a workflow', { workflow_id }, []],
    ['with an id in capitals', { workflow_id: workflow_id.toUpperCase() }, []],
    ['without an id', {}, ['null:on_failure.workflow_id:invalid_field']],
    ['with a template', { workflow_id: '{{input.id}}' }, ['null:on_failure.workflow_id:invalid_field']],
    ['with another field', { workflow_id, version: 1 }, ['null:on_failure.version:unknown_field']],
  ])('%s', async (_, handler, expected) => {
    expect(await codes(withHandler(handler))).toEqual(expected);
  });

  test('must be an object', () => {
    for (const on_failure of [null, [], workflow_id, 1, true]) {
      expect(checkShape({ steps: [], on_failure }).map(item => item.code)).toEqual(['field_not_object']);
    }
  });
});

describe('a report', () => {
  const scope = { tenantId: 't', projectId: 'p' };
  const unknown = (count: number) => [
    { id: 'a', type: 'condition', expression: 'true', depends_on: Array.from({ length: count }, (_, n) => `x${n}`) },
  ];

  test.each([MAX_PROBLEMS - 1, MAX_PROBLEMS, MAX_PROBLEMS + 1])(
    'of %i problems shows 200 and counts the rest',
    async n => {
      const { errors } = await validateGraph({ steps: unknown(n) }, types, scope);
      expect(errors.length).toBe(Math.min(n, MAX_PROBLEMS + 1));
      const more = errors.filter(({ code }) => code === 'more_problems').map(({ message }) => message);
      expect(more).toEqual(n > MAX_PROBLEMS ? ['1 more problem is not shown'] : []);
    },
  );

  test('of the largest graphs is small, and takes less than 2 s', async () => {
    const long = 'x'.repeat(400_000);
    const graphs = [
      unknown(200_000),
      Array.from({ length: 2_000 }, (_, n) => ({
        id: `s${n}`,
        type: 'lua_script',
        script: '{{steps.q.result}} '.repeat(25),
      })),
      [{ id: 'a', type: 'condition', expression: '{{input.a}}'.repeat(90_000) }],
      [{ id: 'a', type: 'lua_script', script: '{{input.a ?? ['.repeat(70_000) }],
      [{ id: 'a', type: 'mcp_call', [long]: '{{steps.', tool_args: { [long]: ['{{steps.', '{{input.'] } }],
      [
        { id: long, type: long, depends_on: [long] },
        { id: long, type: long },
      ],
    ];
    for (const steps of graphs) {
      const before = process.cpuUsage();
      const report = await validateGraph({ steps } as Graph, types, scope);
      const { user } = process.cpuUsage(before);
      expect(report.valid).toBe(false);
      expect(JSON.stringify(report).length).toBeLessThan(200_000);
      expect(user / 1_000_000).toBeLessThan(2);
    }
  });

  test('of a malformed draft is small', () => {
    const shape = checkShape({ steps: Array.from({ length: 2_000 }, () => ({})) });
    expect(shape.length).toBe(MAX_PROBLEMS + 1);
    expect(shape.at(-1)?.message).toBe('3800 more problems are not shown');
  });

  test('refuses an override even if the graph has more problems than are kept', async () => {
    const steps = unknown(0).map(step => ({
      ...step,
      ...Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`f${n}`, 1])),
    }));
    const problems = await validateOverrides({ steps } as Graph, { a: { zzz: 1 } }, types, scope);
    expect(problems.length).toBeGreaterThan(0);
  });

  test.each([199, 200, 201])('of a step of %i fields names the limit', count => {
    const fields = Object.fromEntries(Array.from({ length: count - 2 }, (_, n) => [`f${n}`, 1]));
    const found = checkShape({ steps: [{ id: 'a', type: 'condition', ...fields }] }).map(({ code }) => code);
    expect(found).toEqual(count > 200 ? ['too_many_fields'] : []);
  });

  test('adds up what its parts left out', () => {
    const problem = { step_id: null, path: '', code: 'x', message: '' };
    const part = new ProblemList();
    for (let n = 0; n < 250; n++) part.push(problem);
    const whole = new ProblemList();
    whole.append(part);
    whole.append(part);
    expect(whole.count).toBe(500);
    expect(whole.toReport().at(-1)?.message).toBe('300 more problems are not shown');
  });

  test('finds the field of a path in time linear in their names', () => {
    const path = 'a.'.repeat(500_000);
    const fields = new Set(Array.from({ length: 1_000 }, (_, n) => `${'a.'.repeat(n)}b`));
    expect(isWithin(path, fields)).toBe(false);
    expect(isWithin('then[0]', new Set(['then']))).toBe(true);
    expect(isWithin('a.b.c', new Set(['a.b']))).toBe(true);
    expect(isWithin('ab', new Set(['a']))).toBe(false);
  });
});

describe('on_error', () => {
  const fork = (more: Partial<GraphStep>) => codes(graph(when('a', 'true', { on_error: 'continue', ...more })));
  test('is fail or continue, and continue has no effect on a condition that branches', async () => {
    expect(await codes(graph(lua('a', { on_error: 'continue' }), lua('b', { on_error: 'fail' })))).toEqual([]);
    expect(await codes(graph(lua('a', { on_error: 'ignore' as never })))).toEqual(['a:on_error:invalid_field']);
    expect(await fork({})).toEqual(['a:on_error:on_error_in_branch']);
    expect(await fork({ mode: 'branch' })).toEqual(['a:on_error:on_error_in_branch']);
    expect(await fork({ mode: 'validate' })).toEqual([]);
  });

  test('of another step is read only where that step comes before', async () => {
    const codesFor = (depends_on: string[]) =>
      codes(graph(lua('a'), task('b', { instructions: '{{steps.a.error.code ?? "none"}}', depends_on })));
    expect(await codesFor(['a'])).toEqual([]);
    expect(await codesFor([])).toEqual(['b:instructions:not_an_ancestor']);
  });

  test('cannot be overridden, nor be opened to overrides', async () => {
    const problems = await validateOverrides(graph(lua('a')), { a: { on_error: 'continue' } }, types, scope);
    expect(problems.map(({ path, code }) => `${path}:${code}`)).toEqual(['on_error:not_overridable']);
    expect(await codes(graph(lua('a', { overridable: ['on_error'] })))).toEqual(['a:overridable[0]:not_openable']);
  });
});
