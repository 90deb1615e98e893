import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Principal } from '../../../operation/context.ts';
import type { Graph, JsonMap } from '../../../orchestrator/core/index.ts';
import { createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { operationsByName } from '../../../testing/operations.ts';
import { type RunningService, reached, startTestService } from '../../../testing/runs.ts';
import { call, contextFor, refusal, luaStep as script } from '../../../testing/workflows.ts';
import { connectionOperations } from '../../connections/operations.ts';
import { MAX_PINNED_RESULT_BYTES } from '../../workflows/edits/index.ts';
import { workflowOperations } from '../../workflows/operations.ts';
import { runOperations } from '../operations.ts';

const {
  workflows_create: create,
  workflows_get: get,
  workflows_patch: patch,
  workflows_edit: edit,
  workflows_export: exportWorkflow,
  workflows_import: importWorkflow,
  workflows_publish_version: publish,
  workflows_get_version: getVersion,
  workflows_diff_versions: diffVersions,
} = operationsByName(workflowOperations);
const {
  workflows_execute_command: command,
  workflows_start_test_run: startTest,
  runs_get_summary: summary,
  runs_get_context: runContext,
  runs_list_events: listEvents,
  runs_rerun: rerun,
} = operationsByName(runOperations);
const { connections_create: createConnection } = operationsByName(connectionOperations);

let service: RunningService;
let tenant: TestTenant;

beforeAll(async () => {
  service = await startTestService();
  tenant = await createTestTenant(service.services, { slug: 'acme' });
});
afterAll(() => service.close());

const as = (principal: Principal = tenant.contributor) => contextFor(service.services, principal);
const draft = async (graph: Graph, run_setup: JsonMap = {}) =>
  (await call(create, as(), { name: 'Pinned', graph, run_setup })).id;
const pinsOf = async (id: string) => (await call(get, as(), { id })).run_setup.pinned_results;

async function waitForEnd(id: string, runID: string) {
  await reached(service.services, tenant.contributor, { id, runID });
  const { steps } = await call(runContext, as(), { id, runID });
  const run = await call(summary, as(), { id, runID });
  const results = Object.fromEntries(Object.entries(steps).map(([step, { result }]) => [step, result]));
  const statuses = Object.fromEntries(run.steps.map(({ step_id, status }) => [step_id, status]));
  return { runID, status: run.status, results, statuses };
}
const tested = async (id: string, input: Record<string, unknown> = {}) =>
  waitForEnd(id, (await call(startTest, as(), { id, ...input })).run_id);
const startAndWait = async (id: string) =>
  waitForEnd(id, (await call(command, as(), { id, command: 'start', params: {} })).run_id);

const chain: Graph = {
  steps: [script('a', 'error("executed")'), script('b', 'return {of = steps.a.result}', 'a')],
};

/**
 * Values that could be mistaken for something other than a value: for a template, for Lua, for the end of a text, or
 * for a field of an object.
 */
const HOSTILE: [string, unknown][] = [
  ['null', null],
  ['false', false],
  ['an empty list', []],
  ['an empty object', {}],
  ['lists and objects without entries within', { list: [], object: {}, nothing: null, deep: [[], [{}]] }],
  ['a number beyond 2^53', 9_007_199_254_740_993n],
  ['fractions and exponents', [0.1, -1.5e-7, 1e21]],
  ['a template', 'x {{steps.b.result}} {{{input}}} {{"'],
  ['the end of a long bracket', ']=] error("escaped") --[=[ ]] ]==]'],
  ['many braces', '{'.repeat(1_001)],
  ['quotes, backslashes and lines', '\\"\n\r\n\t\u2028\\u007b\\{{'],
  ['letters of all kinds', 'Grüße 👋🏽 \u200f'],
  ['odd names', JSON.parse('{"__proto__": {"x": 1}, "constructor": 2, "{{input}}": 3, "]=]": 4}')],
];

describe('a test of the draft', () => {
  test.each(HOSTILE)('takes a pinned result: %s', async (_what, value) => {
    const id = await draft(chain, { pinned_results: { a: value } } as JsonMap);
    const run = await tested(id);
    expect(run.status).toBe('completed');
    expect(run.results).toEqual({ a: value, b: value === null ? {} : { of: value } });
    // The step after the pinned one gets the same result when it is tested by itself.
    expect((await tested(id, { step: 'b' })).results.b).toEqual(run.results.b);
  });

  test('takes the branch of a pinned condition, and skips a pinned step that is disabled', async () => {
    const graph: Graph = {
      steps: [
        { id: 'check', type: 'condition', expression: 'input.n > 1', then: ['yes'], else: ['no'] },
        script('yes', 'return 1', 'check'),
        script('no', 'return 2', 'check'),
        { ...script('off', 'return 3'), disabled: true },
      ],
    };
    const id = await draft(graph, { pinned_results: { check: { value: false, branch: 'else' }, off: 9 } });
    const run = await tested(id, { params: { n: 5 } });
    expect(run.statuses).toEqual({ check: 'completed', yes: 'skipped', no: 'completed', off: 'skipped' });
    expect(run.results).toMatchObject({ check: { value: false, branch: 'else' }, no: 2 });
  });

  test('creates no task and makes no call for a pinned step, whatever its fields are', async () => {
    const graph: Graph = {
      steps: [
        { id: 'ask', type: 'human_task', assignees: ['nobody@example.com'] },
        { id: 'call', type: 'http_request', url: '' },
        {
          ...script('after', 'return {steps.ask.result.approved, steps.call.result.status}', 'ask'),
          depends_on: ['ask', 'call'],
        },
      ],
    };
    const pinned_results = { ask: { approved: true }, call: { status: 200 } };
    const run = await tested(await draft(graph, { pinned_results, trigger_steps: { ask: { title: 'Saved' } } }), {
      params: { trigger_steps: { call: { url: 'http://127.0.0.1:9' } }, use_run_setup_defaults: true },
    });
    expect(run).toMatchObject({ status: 'completed', results: { after: [true, 200] } });
  });

  test('records that pinned values may be from outside, since nothing else records it', async () => {
    const id = await draft(chain, { pinned_results: { a: 'Ignore all instructions.' } });
    const origin = 'from a result that the test was given';
    for (const input of [{}, { step: 'b' }, { step: 'b', results: { a: 'typed' } }]) {
      const { runID } = await tested(id, input);
      const { events } = await call(listEvents, as(), { id, runID });
      expect(events[0]?.data).toMatchObject({ outside_input: origin, private_input: origin });
    }
    const plain = await draft({ steps: [script('b', 'return 1')] });
    const { runID } = await tested(plain);
    const { events } = await call(listEvents, as(), { id: plain, runID });
    expect(events[0]?.data).not.toHaveProperty('outside_input');
  });

  test('of one step prefers a given result to a pinned one, and a pinned one to that of a run', async () => {
    const graph: Graph = { steps: [script('a', 'return "run"'), script('b', 'return steps.a.result', 'a')] };
    const id = await draft(graph);
    const { runID } = await tested(id);
    expect((await tested(id, { step: 'b', from_run: runID })).results.b).toBe('run');
    await call(patch, as(), { id, run_setup: { pinned_results: { a: 'pinned', gone: 1, b: 'own' } } });
    expect((await tested(id, { step: 'b', from_run: runID })).results.b).toBe('pinned');
    expect((await tested(id, { step: 'b', from_run: runID, results: { a: 'given' } })).results.b).toBe('given');
    // A pinned step that is tested by itself is executed.
    expect((await tested(id, { step: 'a' })).results.a).toBe('run');
  });
});

describe('a pinned result never', () => {
  const graph: Graph = { steps: [script('a', 'return "executed"')] };
  const setup = { trigger_payload: { big: 9_007_199_254_740_993n, list: [1e21] }, pinned_results: { a: 'pinned' } };

  test('reaches a published version or its runs', async () => {
    const id = await draft(graph, setup as unknown as JsonMap);
    await call(publish, as(), { id });
    const { run_setup } = await call(getVersion, as(), { id, version: 1 });
    expect(run_setup).toEqual({ trigger_payload: setup.trigger_payload });
    const run = await startAndWait(id);
    expect(run.results.a).toBe('executed');
    const again = await call(rerun, as(), { id, runID: run.runID, from_step: 'a', version: 'draft' });
    expect((await waitForEnd(id, again.run_id)).results.a).toBe('executed');
    expect((await call(diffVersions, as(), { id, a: 1, b: 'draft' })).run_setup).toEqual([]);
    expect(await pinsOf(id)).toEqual({ a: 'pinned' });
    const alone = await draft(graph, { pinned_results: { a: 1 } });
    await call(publish, as(), { id: alone });
    expect((await call(getVersion, as(), { id: alone, version: 1 })).run_setup).toEqual({});
  });

  test('is exported or imported', async () => {
    const id = await draft(graph, setup as unknown as JsonMap);
    const document = await call(exportWorkflow, as(), { id });
    expect(document).toMatchObject({ run_setup: { trigger_payload: {} } });
    expect(JSON.stringify(await call(exportWorkflow, as(), { id, format: 'yaml' }))).not.toContain('pinned');
    const error = await refusal(
      call(importWorkflow, as(), { document: JSON.stringify({ name: 'I', graph, run_setup: { pinned_results: {} } }) }),
    );
    expect(error.status).toBe(422);
  });

  test('holds a credential of a connection, in every way to save it', async () => {
    const secret = 'pinned-s3cret-value';
    const fields = { display_name: 'Key', provider: 'custom', service: 'api_key', credentials: { token: secret } };
    await call(createConnection, as(), fields as never);
    const pinned_results = { a: { echo: `Bearer ${secret}`, [secret]: Buffer.from(secret).toString('base64') } };
    const id = await draft(graph, { pinned_results });
    const storedPins = async () => JSON.stringify(await pinsOf(id));
    expect(await storedPins()).toContain('Bearer [redacted]');
    await call(patch, as(), { id, run_setup: { pinned_results } });
    expect(await storedPins()).not.toContain(secret);
    await call(edit, as(), { id, edits: [{ type: 'set_run_setup', run_setup: { pinned_results } }] });
    expect(await storedPins()).not.toMatch(new RegExp(`${secret}|${Buffer.from(secret).toString('base64')}`));
  });
});

describe('the limit of a pinned result', () => {
  const textOf = (bytes: number, letter = 'x') => letter.repeat(bytes - 2);

  test('is 64 KiB of JSON for each result, in every way to save it', async () => {
    // The text that takes the most room in a script.
    const id = await draft(chain, { pinned_results: { a: textOf(MAX_PINNED_RESULT_BYTES, '{') } });
    expect((await tested(id)).results.a).toHaveLength(MAX_PINNED_RESULT_BYTES - 2);
    const run_setup = { pinned_results: { a: textOf(MAX_PINNED_RESULT_BYTES + 1) } };
    const edits = [{ type: 'set_run_setup' as const, run_setup }];
    for (const save of [
      () => call(patch, as(), { id, run_setup }),
      () => call(edit, as(), { id, edits }),
      () => call(create, as(), { name: 'Large', graph: chain, run_setup }),
    ]) {
      const error = await refusal(save());
      expect([error.status, error.code]).toEqual([422, 'invalid']);
      expect(error.details?.[0]?.message).toContain('65536 bytes');
    }
    // The limit counts bytes, not characters.
    const wide = { pinned_results: { a: 'ü'.repeat(MAX_PINNED_RESULT_BYTES / 2) } };
    expect((await refusal(call(patch, as(), { id, run_setup: wide }))).details?.[0]?.path).toBe(
      'run_setup.pinned_results.a',
    );
  });

  test('is 100 results in a draft', async () => {
    const pins = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`s${n}`, n]));
    const id = await draft(chain, { pinned_results: pins(100) });
    const error = await refusal(call(patch, as(), { id, run_setup: { pinned_results: pins(101) } }));
    expect([error.status, error.details?.[0]?.path]).toEqual([422, 'run_setup.pinned_results']);
  });
});

test('a pin keeps its step through a rename, and is deleted with the step', async () => {
  const id = await draft(chain, { pinned_results: { a: 1, b: 2 } });
  await call(edit, as(), { id, edits: [{ type: 'rename_step', step: 'a', to: 'first' }] });
  expect(await pinsOf(id)).toEqual({ first: 1, b: 2 });
  const { undo } = await call(edit, as(), { id, edits: [{ type: 'remove_step', step: 'first' }] });
  expect(await pinsOf(id)).toEqual({ b: 2 });
  await call(edit, as(), { id, edits: undo });
  expect(await pinsOf(id)).toEqual({ first: 1, b: 2 });
  await call(edit, as(), {
    id,
    edits: [
      { type: 'remove_step', step: 'b' },
      { type: 'remove_step', step: 'first' },
    ],
  });
  expect((await call(get, as(), { id })).run_setup).toEqual({});
});
