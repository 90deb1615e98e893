import { describe, expect, test } from 'vitest';
import { WORKFLOW_TOOL_NAME } from '../../orchestrator/core/index.ts';
import { distinctNames } from './tool-names.ts';
import { type ToolSource, toolOfWorkflow } from './tool-of-workflow.ts';

const source = (more: Partial<ToolSource> = {}): ToolSource => ({
  name: 'Refund an order',
  description: '',
  tool: {},
  inputSchema: null,
  triggerPayload: null,
  ...more,
});
const nameOf = (name: string, tool = {}) => toolOfWorkflow(source({ name, tool })).name;

describe('the name of a workflow as a tool', () => {
  test.each([
    ['Refund an order', 'refund_an_order'],
    ['  Überweisung – Prüfen!  ', 'uberweisung_prufen'],
    ['2 step check', '_2_step_check'],
    ['注文を払い戻す', 'workflow'],
    ['…', 'workflow'],
    ['x'.repeat(200), 'x'.repeat(64)],
    [`${'x'.repeat(63)} y`, 'x'.repeat(63)],
    [`1${'x'.repeat(80)}`, `_1${'x'.repeat(62)}`],
    ['__proto__', 'proto'],
  ])('%s is %s', (name, expected) => {
    expect(nameOf(name)).toBe(expected);
    expect(expected).toMatch(WORKFLOW_TOOL_NAME);
  });

  test('is the declared name if models accept it', () => {
    expect(nameOf('A', { name: 'Refund-Order_1' })).toBe('Refund-Order_1');
    for (const name of ['', 'a b', '1a', 'a.b', 'a'.repeat(65), 'é', 'a\n']) expect(nameOf('A', { name })).toBe('a');
  });
});

test('the description is the declared one, or else that of the workflow, or else its name', () => {
  const descriptionOf = (more: Partial<ToolSource>) => toolOfWorkflow(source(more)).description;
  expect(descriptionOf({ tool: { description: ' Pays back. ' }, description: 'Other' })).toBe('Pays back.');
  expect(descriptionOf({ tool: { description: ' ' }, description: 'Other' })).toBe('Other');
  expect(descriptionOf({})).toBe('Runs the workflow “Refund an order” and returns its output.');
  expect(descriptionOf({ description: 'x'.repeat(20_000) })).toHaveLength(2_000);
});

test('the input schema is that of the graph, or names the fields of the saved input', () => {
  const schema = (more: Partial<ToolSource>) => toolOfWorkflow(source(more)).inputSchema;
  const inputSchema = { $schema: 'x', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { type: 'string' } } };
  expect(schema({ inputSchema, triggerPayload: { b: 1 } })).toEqual({
    type: 'object',
    properties: inputSchema.properties,
    $defs: inputSchema.$defs,
  });
  expect(schema({ inputSchema: { type: ['object', 'null'] } })).toEqual({ type: 'object' });
  expect(schema({})).toEqual({ type: 'object', properties: {} });
  const triggerPayload = {
    n: 1,
    big: 9007199254740993n as unknown as number,
    t: 'x',
    b: true,
    l: [1],
    o: { x: 1 },
    z: null,
  };
  expect(schema({ triggerPayload })).toEqual({
    type: 'object',
    properties: {
      n: { type: 'number' },
      big: { type: 'number' },
      t: { type: 'string' },
      b: { type: 'boolean' },
      l: { type: 'array', items: {} },
      o: { type: 'object' },
      z: {},
    },
  });
});

test('a tool is read-only if the graph declares it', () => {
  expect(toolOfWorkflow(source({ tool: { read_only: true } })).readOnly).toBe(true);
  for (const tool of [null, {}, { read_only: false }]) expect(toolOfWorkflow(source({ tool })).readOnly).toBe(false);
});

describe('names of tools of one project', () => {
  const ids = ['01980000-0000-7000-8000-0000000000aa', '01980000-0000-7000-8000-0000000000bb'] as const;
  const named = (first: string, second: string, taken: string[] = []) => [
    ...distinctNames(
      [
        { id: ids[0], name: first },
        { id: ids[1], name: second },
      ],
      new Set(taken),
    ).values(),
  ];

  test('stay unchanged if they differ', () => {
    expect(named('a', 'b')).toEqual(['a', 'b']);
  });

  test('that two workflows share go to neither of them', () => {
    expect(named('a', 'a')).toEqual(['a_0000000000aa', 'a_0000000000bb']);
    const long = 'x'.repeat(64);
    for (const name of named(long, long)) expect(name).toMatch(WORKFLOW_TOOL_NAME);
  });

  test('are never those of the service', () => {
    expect(named('tasks_complete', 'b', ['tasks_complete'])).toEqual(['tasks_complete_0000000000aa', 'b']);
  });

  test('cannot imitate the name that another workflow gets', () => {
    expect(
      new Set(
        distinctNames([
          { id: ids[0], name: 'a' },
          { id: ids[1], name: 'a' },
          { id: '01980000-0000-7000-8000-0000000000cc', name: 'a_0000000000aa' },
        ]).values(),
      ),
    ).toEqual(new Set(['a_0000000000aa', 'a_0000000000bb', 'a_0000000000aa_0000000000cc']));
  });
});
