import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Principal } from '../../../operation/context.ts';
import type { Graph, JsonValue } from '../../../orchestrator/core/index.ts';
import { createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { operationsByName } from '../../../testing/operations.ts';
import { asking, publishGraph, type RunningService, reached, startTestService } from '../../../testing/runs.ts';
import { call, contextFor, luaStep as lua, refusal } from '../../../testing/workflows.ts';
import { runOperations } from '../operations.ts';

const {
  workflows_execute_command: command,
  runs_get_summary: summary,
  runs_get_context: context,
  runs_rerun: rerun,
} = operationsByName(runOperations);

const MIB = 1024 * 1024;
let service: RunningService;
let tenant: TestTenant;
let stranger: Principal;

beforeAll(async () => {
  service = await startTestService();
  tenant = await createTestTenant(service.services, { slug: 'acme' });
  stranger = (await createTestTenant(service.services, { slug: 'rival' })).owner;
});
afterAll(() => service.close());

const as = (principal = tenant.contributor) => contextFor(service.services, principal);
type Step = Graph['steps'][number];

async function run(steps: readonly Step[], output?: JsonValue, input: Record<string, unknown> = {}) {
  const graph: Graph = { steps: [...steps], ...(output !== undefined && { output }) };
  const id = await publishGraph(service.services, tenant.owner, graph);
  const { run_id: runID } = await call(command, as(), { id, command: 'start', params: input });
  await reached(service.services, tenant.owner, { id, runID });
  return { id, runID };
}

/** Returns the output of a run, and asserts that summary and context agree on it. */
async function outputOf(ref: { id: string; runID: string }) {
  const [one, other] = [await call(summary, as(), ref), await call(context, as(), ref)];
  const found = { output: one.output, output_error: one.output_error };
  expect({ output: other.output, output_error: other.output_error }).toEqual(found);
  return found;
}
const is = (output: JsonValue) => ({ output, output_error: null });
const isMissing = (code: string) => ({ output: null, output_error: { code, message: expect.any(String) } });

describe('without a template, the output is the result', () => {
  test('of the last step, if there is one', async () => {
    expect(await outputOf(await run([lua('a', 'return 1'), lua('b', 'return {n = 2}', 'a')]))).toEqual(is({ n: 2 }));
  });

  test('of each last step, by its id', async () => {
    const steps = [lua('a', 'return 1'), lua('b', 'return {n = 2}', 'a'), lua('__proto__', 'return 3', 'a')];
    const { output } = await outputOf(await run(steps));
    expect(JSON.stringify(output)).toBe('{"b":{"n":2},"__proto__":3}');
  });

  test('of the branch that was taken, still by its id', async () => {
    const branch = { id: 'if', type: 'condition', expression: 'input.big', then: ['yes'], else: ['no'] };
    const steps = [branch, lua('yes', 'return 1', 'if'), lua('no', 'return 2', 'if')];
    expect(await outputOf(await run(steps, undefined, { big: true }))).toEqual(is({ yes: 1 }));
    expect(await outputOf(await run(steps, undefined, { big: false }))).toEqual(is({ no: 2 }));
  });

  test('null if the last step was skipped, or failed and let the run continue', async () => {
    const skipped = { ...lua('b', 'return 2', 'a'), disabled: true };
    expect(await outputOf(await run([lua('a', 'return 1'), skipped]))).toEqual(is(null));
    const failed = { ...lua('b', 'error("no")', 'a'), on_error: 'continue' as const };
    expect(await outputOf(await run([lua('a', 'return 1'), failed]))).toEqual(is(null));
  });

  test('of large last steps, up to 4 MiB together', async () => {
    const large = (id: string) => lua(id, `return string.rep("x", ${MIB - 2})`);
    expect(await outputOf(await run([large('a')]))).toEqual(is('x'.repeat(MIB - 2)));
    const three = await outputOf(await run(['a', 'b', 'c'].map(large)));
    expect(Object.keys(three.output as object)).toEqual(['a', 'b', 'c']);
    // Four of the results fit, but not together with their names.
    expect(await outputOf(await run(['a', 'b', 'c', 'd'].map(large)))).toEqual(isMissing('output_too_large'));
    expect(await outputOf(await run(['a', 'b', 'c', 'd', 'e'].map(large)))).toEqual(isMissing('output_too_large'));
  });

  test('of a rerun from a step, with the results that it was given', async () => {
    const ref = await run([lua('a', 'return 1'), lua('b', 'return 2', 'a'), lua('c', 'return 3', 'a')]);
    const { run_id: runID } = await call(rerun, as(), { ...ref, from_step: 'b' });
    await reached(service.services, tenant.owner, { ...ref, runID });
    expect(await outputOf({ ...ref, runID })).toEqual(is({ b: 2, c: 3 }));
  });
});

describe('a template', () => {
  test('reads the input and any step', async () => {
    const steps = [lua('a', 'return {n = 2}'), lua('b', 'return 3', 'a')];
    const output = { who: 'For {{input.who}}', all: ['{{steps.a.result}}', '{{steps.b.result}}'], fixed: true };
    const expected = { who: 'For Ann', all: [{ n: 2 }, 3], fixed: true };
    expect(await outputOf(await run(steps, output, { who: 'Ann' }))).toEqual(is(expected));
  });

  test('may be a value without any template', async () => {
    expect(await outputOf(await run([lua('a', 'return 1')], null))).toEqual(is(null));
    expect(await outputOf(await run([lua('a', 'return 1')], 'done'))).toEqual(is('done'));
  });

  test('reads null for a skipped step, and the error of one that failed', async () => {
    const steps: Step[] = [
      { ...lua('off', 'return 1'), disabled: true },
      { ...lua('bad', 'error("no")'), on_error: 'continue' },
    ];
    const output = {
      off: '{{steps.off.result}}',
      bad: '{{steps.bad.result}}',
      code: '{{steps.bad.error.code}}',
      none: '{{steps.off.error}}',
      other: '{{steps.off.result.x ?? "else"}}',
    };
    const expected = { off: null, bad: null, code: 'lua_error', none: null, other: 'else' };
    expect(await outputOf(await run(steps, output))).toEqual(is(expected));
  });

  test('reads the branch that was taken, and fills in keys', async () => {
    const branch = { id: 'if', type: 'condition', expression: 'input.big', then: ['yes'], else: ['no'] };
    const steps = [branch, lua('yes', 'return "large"', 'if'), lua('no', 'return "small"', 'if')];
    const output = { '{{steps.yes.result ?? steps.no.result}}': '{{steps.yes.result ?? steps.no.result}}' };
    expect(await outputOf(await run(steps, output, { big: true }))).toEqual(is({ large: 'large' }));
    expect(await outputOf(await run(steps, output, { big: false }))).toEqual(is({ small: 'small' }));
    const twice = await outputOf(await run([lua('a', 'return "x"')], { x: 1, '{{steps.a.result}}': 2 }));
    expect(twice).toEqual(isMissing('template_key_invalid'));
  });

  test('that does not resolve leaves the run completed, and states the reason', async () => {
    const ref = await run([lua('a', 'return {}')], '{{steps.a.result.total}}');
    expect((await call(summary, as(), ref)).status).toBe('completed');
    const found = await outputOf(ref);
    expect(found).toEqual(isMissing('template_unresolved'));
    expect(found.output_error?.message).toContain('steps.a.result.total');
  });

  test('may produce 4 MiB, and no more', async () => {
    const step = lua('a', `return string.rep("x", ${MIB - 2})`);
    const times = (count: number) => Array.from({ length: count }, () => '{{steps.a.result}}');
    expect((await outputOf(await run([step], times(4)))).output).toHaveLength(4);
    expect(await outputOf(await run([step], times(5)))).toEqual(isMissing('output_too_large'));
  });
});

test('a run has no output until it has completed', async () => {
  const id = await publishGraph(service.services, tenant.owner, { ...asking(), output: 'done' });
  const { run_id: runID } = await call(command, as(), { id, command: 'start' });
  await reached(service.services, tenant.owner, { id, runID }, 'blocked');
  expect(await outputOf({ id, runID })).toEqual(is(null));
  await call(command, as(), { id, command: 'stop', params: { run_id: runID } });
  await reached(service.services, tenant.owner, { id, runID });
  expect(await outputOf({ id, runID })).toEqual(is(null));
  const failed = await run([lua('a', 'return 1'), lua('b', 'error("no")', 'a')], 'done');
  expect(await outputOf(failed)).toEqual(is(null));
});

test('a reader outside the workspace cannot read the output', async () => {
  const ref = await run([lua('a', 'return 1')]);
  const refused = [call(summary, as(stranger), ref), call(context, as(stranger), ref)].map(refusal);
  expect((await Promise.all(refused)).map(({ status }) => status)).toEqual([404, 404]);
});
