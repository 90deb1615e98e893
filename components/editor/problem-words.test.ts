import { afterAll, describe, expect, test } from 'vitest';
import { LuaPool } from '../../server/orchestrator/languages/lua/index.ts';
import { createStepTypes } from '../../server/orchestrator/steps/registry.ts';
import { validateGraph } from '../../server/orchestrator/validation/index.ts';
import { inConsoleWords } from './problem-words.ts';

const pool = new LuaPool({ workers: 1 });
afterAll(() => pool.close());
const types = createStepTypes({ luaPool: pool });
const scope = { tenantId: 'acme', projectId: '01900000-0000-7000-8000-000000000001' };

type Step = { id: string; type: string; [field: string]: unknown };
const lua = (id: string, more: object = {}): Step => ({ id, type: 'lua_script', script: 'return 1', ...more });
const task = (id: string, more: object = {}): Step => ({ id, type: 'human_task', ...more });

/** Returns the console's texts for the problems that the server finds: each message, followed by its hint. */
async function textsOf(...steps: Step[]): Promise<string[]> {
  const { errors, warnings } = await validateGraph({ steps: steps as never }, types, scope);
  return [...errors, ...warnings]
    .map(inConsoleWords)
    .map(({ message, hint }) => (hint === undefined ? message : `${message} | ${hint}`));
}

describe('the console texts for problems', () => {
  test.each<[string, Step[], string[]]>([
    ['no steps', [], ['Add the first step']],
    [
      'a workflow that was not chosen',
      [{ id: 'a', type: 'call_workflow' }],
      ['call_workflow steps cannot be published yet', 'Choose a workflow'],
    ],
    ['no script', [{ id: 'a', type: 'lua_script' }], ['Write a script']],
    [
      'a result that is read without a connection',
      [lua('a'), task('b', { instructions: '{{steps.a.result}}' })],
      ['“a” does not run before this step. Connect it to “b”.'],
    ],
    [
      'a branch to a step that is not connected',
      [{ id: 'a', type: 'condition', expression: 'input.x', then: ['b'] }, lua('b')],
      ['“b” does not run after this step. Connect “a” to it, or remove it from the branch.'],
    ],
    [
      'a cycle',
      [lua('a', { depends_on: ['b'] }), lua('b', { depends_on: ['a'] })],
      ['The steps wait for each other: a → b → a | Remove one of these connections.'],
    ],
    [
      'a connection to no step',
      [lua('a', { depends_on: ['zzz'] })],
      ['There is no step "zzz" | Remove the connection, or add a step with this ID.'],
    ],
    [
      'a connection to a step of another name',
      [lua('orders'), lua('b', { depends_on: ['order'] })],
      ['There is no step "order" | Did you mean "orders"?'],
    ],
    [
      'a connection twice',
      [lua('a'), lua('b', { depends_on: ['a', 'a'] })],
      ['Connected to "a" twice | Remove one of the two connections.'],
    ],
    ['too many retries', [lua('a', { retry_count: 11 })], ['Retries must be at most 10']],
    ['a timeout of nothing', [lua('a', { timeout_s: 0 })], ['Timeout (s) must be at least 1']],
    ['a text for a number', [lua('a', { retry_count: 'x' })], ['Retries must be a number']],
    [
      'retries of a person',
      [task('a', { retry_count: 1 })],
      ['This type of step is never retried | Set retries to 0.'],
    ],
    ['a wait without an end', [{ id: 'a', type: 'wait' }], ['Enter either “Seconds” or “Until”']],
    [
      'a gated step that is disabled',
      [lua('a', { gated: true, disabled: true })],
      [
        'A disabled step does not run, even when it is started by name | Turn off “Only when started by name”, or enable the step.',
      ],
    ],
    [
      'a field that no start may change',
      [lua('a', { overridable: ['script'] })],
      ['Only these fields can be changed at start: name, timeout_s, retry_count, retry_delay_s'],
    ],
    [
      'a step of a loop that is started by name',
      [{ id: 'each', type: 'for_each', items: '{{input.list}}', steps: [lua('a', { gated: true })] }],
      ['“Only when started by name” has no effect inside a loop'],
    ],
    [
      'a field that does not exist',
      [lua('a', { whatever: 1 })],
      ['This step has no field "whatever" | Remove it in the JSON of the graph.'],
    ],
  ])('%s', async (_, steps, expected) => {
    const found = await textsOf(...steps);
    expect(found).toHaveLength(expected.length);
    for (const [at, text] of expected.entries()) expect(found[at]?.slice(0, text.length)).toBe(text);
  });

  test('adds the field name to a message that lacks a subject', () => {
    const problem = { step_id: 'a', code: 'tool_args_invalid', path: 'steps[0].tool_args.from' };
    expect(inConsoleWords({ ...problem, message: 'must be a text', hint: 'Change it.' })).toEqual({
      ...problem,
      message: 'Arguments › from must be a text',
      hint: 'Change it.',
    });
  });

  test.each([
    ['tool_arg_missing', 'tool_args.from', 'is required by the tool', 'The tool requires “from”'],
    ['tool_arg_unknown', 'tool_args.form', 'is not known to the tool', 'The tool has no argument “form”'],
    ['timeout_never', 'on_timeout', 'on_timeout has no effect', '“On timeout” has no effect without a timeout'],
    [
      'tool_may_write',
      'tool.read_only',
      'says that the workflow changes nothing, but the step "a" sends a POST request',
      'This tool is marked read-only, but the step "a" sends a POST request',
    ],
  ])('%s at %s', (code, path, message, expected) => {
    expect(inConsoleWords({ step_id: 'a', code, path, message }).message).toBe(expected);
  });

  test('keeps the position in a message, because the editor parses it', async () => {
    expect((await textsOf(lua('a', { script: 'return (' })))[0]).toMatch(/^script:1:/);
    expect((await textsOf({ id: 'a', type: 'condition', expression: 'input.x +' }))[0]).toMatch(/ at character \d+$/);
  });

  test('leaves an unknown message unchanged', () => {
    const problem = { step_id: null, path: '', code: 'something_new', message: 'Something new' };
    expect(inConsoleWords(problem)).toEqual(problem);
    expect(inConsoleWords({ ...problem, code: 'constructor' }).message).toBe('Something new');
  });
});
