import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Graph, JsonMap } from '../../../orchestrator/core/index.ts';
import { newId } from '../../../platform/ids.ts';
import { createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { operationsByName } from '../../../testing/operations.ts';
import { publishGraph, type RunningService, reached, startTestService } from '../../../testing/runs.ts';
import { call, contextFor, luaStep as lua, refusal } from '../../../testing/workflows.ts';
import { workflowOperations } from '../../workflows/operations.ts';
import { runOperations } from '../operations.ts';

const {
  workflows_execute_command: command,
  workflows_start_test_run: testRun,
  runs_get_summary: summary,
  runs_rerun: rerun,
} = operationsByName(runOperations);
const { workflows_patch: patch, workflows_publish_version: publish } = operationsByName(workflowOperations);

const input_schema: JsonMap = {
  type: 'object',
  required: ['email'],
  properties: {
    email: { type: 'string', format: 'email' },
    items: { type: 'array', items: { type: 'object', properties: { price: { type: 'number', minimum: 0 } } } },
  },
  additionalProperties: false,
};
const graph: Graph = { steps: [lua('a', 'return input'), lua('b', 'return 1', 'a')], input_schema };

let service: RunningService;
let tenant: TestTenant;

beforeAll(async () => {
  service = await startTestService();
  tenant = await createTestTenant(service.services, { slug: 'acme' });
});
afterAll(() => service.close());

const as = (principal = tenant.contributor) => contextFor(service.services, principal);
const published = (runSetup: unknown = {}) => publishGraph(service.services, tenant.owner, graph, runSetup);
const start = (id: string, params: unknown) => call(command, as(), { id, command: 'start', params });
const problems = async (refused: Promise<unknown>) => {
  const { status, code, details } = await refusal(refused);
  return [status, code, ...(details ?? []).map(({ path }) => path)];
};

describe('a start', () => {
  test.each<[string, JsonMap, string[]]>([
    ['nothing of what is needed', {}, ['input']],
    ['another type', { email: 5 }, ['input.email']],
    ['another format', { email: 'ann' }, ['input.email']],
    ['a problem deep inside', { email: 'a@b.example', items: [{ price: 1 }, { price: -1 }] }, ['input.items[1].price']],
    ['a field that the schema does not have', { email: 'a@b.example', other: 1 }, ['input.other']],
  ])('with %s is refused with the paths', async (_, input, paths) => {
    expect(await problems(start(await published(), input))).toEqual([422, 'invalid_input', ...paths]);
  });

  test('that fits is accepted, regardless of the params that contain its fields', async () => {
    const id = await published();
    const fitting = { trigger_payload: { email: 'x' }, webhook_payload: { items: [] }, email: 'a@b.example' };
    expect(await start(id, fitting)).toMatchObject({ status: 'running' });
  });

  test('is checked together with the defaults that are merged beneath', async () => {
    const id = await published({ trigger_payload: { email: 'a@b.example' } });
    expect(await start(id, { use_run_setup_defaults: true })).toMatchObject({ status: 'running' });
    expect(await problems(start(id, {}))).toEqual([422, 'invalid_input', 'input']);
  });

  test('that is refused is recorded, and leaves no run', async () => {
    const run_id = newId();
    await refusal(start(await published(), { run_id }));
    const { rows } = await service.db.pool.query('SELECT code FROM run_rejections WHERE run_id = $1', [run_id]);
    expect(rows).toEqual([{ code: 'invalid_input' }]);
    expect((await service.db.pool.query('SELECT FROM runs WHERE id = $1', [run_id])).rowCount).toBe(0);
  });

  test('is checked against the version that it runs', async () => {
    const id = await published();
    await call(patch, as(), { id, graph: { steps: graph.steps } });
    expect(await problems(start(id, {}))).toEqual([422, 'invalid_input', 'input']);
    await call(publish, as(), { id });
    expect(await start(id, {})).toMatchObject({ status: 'running' });
  });

  test('is checked against referenced schemas, and the problems are readable', async () => {
    const schema: JsonMap = {
      $ref: '#/$defs/Order',
      $defs: {
        Order: {
          type: 'object',
          required: ['state'],
          properties: {
            state: { $ref: '#/$defs/State' },
            note: { type: 'string', nullable: true },
            parts: { type: 'array', items: { $ref: '#/$defs/Order' } },
          },
          additionalProperties: false,
        },
        State: { enum: ['open', 'paid'], type: 'string' },
      },
    };
    const id = await publishGraph(service.services, tenant.owner, { ...graph, input_schema: schema });
    expect(await start(id, { state: 'open', note: null, parts: [{ state: 'paid' }] })).toMatchObject({
      status: 'running',
    });
    const { details } = await refusal(start(id, { state: 'open', parts: [{}, { state: 'lost', more: 1 }] }));
    expect(details).toEqual([
      { path: 'input.parts[0]', message: 'state is missing', code: 'required' },
      { path: 'input.parts[1].state', message: 'must be one of "open", "paid"', code: 'enum' },
      { path: 'input.parts[1].more', message: 'is not expected', code: 'false' },
    ]);
  });

  test('accepts a large input that fits, and refuses a list that costs too much to check', async () => {
    const schema = { properties: { ids: { type: 'array', uniqueItems: true, items: { type: 'integer' } } } };
    const id = await publishGraph(service.services, tenant.owner, { ...graph, input_schema: schema });
    const ids = (count: number) => ({ ids: Array.from({ length: count }, (_, n) => n) });
    expect(await start(id, ids(500))).toMatchObject({ status: 'running' });
    expect(await problems(start(id, ids(501)))).toEqual([422, 'invalid_input', 'input.ids']);
    expect(await problems(start(id, ids(100_000)))).toEqual([422, 'invalid_input', 'input']);
  });
});

test('a rerun is checked against the version that continues the run', async () => {
  const id = await publishGraph(service.services, tenant.owner, { steps: graph.steps });
  const { run_id: runID } = await start(id, { who: 'Ann' });
  await reached(service.services, tenant.owner, { id, runID });
  await call(patch, as(), { id, graph });
  await call(publish, as(), { id });
  expect(await call(rerun, as(), { id, runID })).toMatchObject({ status: 'running' });
  const refused = call(rerun, as(), { id, runID, from_step: 'b', version: 'latest' });
  expect(await problems(refused)).toEqual([422, 'invalid_input', 'input', 'input.who']);
});

test('a test run is checked against the draft, but a test of one step is not checked', async () => {
  const id = await publishGraph(service.services, tenant.owner, { steps: graph.steps });
  await call(patch, as(), { id, graph });
  expect(await problems(call(testRun, as(), { id }))).toEqual([422, 'invalid_input', 'input']);
  const run = await call(testRun, as(), { id, params: { email: 'a@b.example' } });
  await reached(service.services, tenant.owner, { id, runID: run.run_id });
  expect((await call(summary, as(), { id, runID: run.run_id })).status).toBe('completed');
  expect(await call(testRun, as(), { id, step: 'a' })).toMatchObject({ status: 'running' });
});
