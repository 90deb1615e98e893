import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Principal } from '../../../operation/context.ts';
import type { Graph, JsonMap } from '../../../orchestrator/core/index.ts';
import { type Scope, scopes } from '../../../orchestrator/ports/authority.ts';
import { newId } from '../../../platform/ids.ts';
import { createTestTenant, type TestTenant, withScopes } from '../../../testing/identity.ts';
import { operationsByName } from '../../../testing/operations.ts';
import { type RunningService, reached, startTestService } from '../../../testing/runs.ts';
import { call, contextFor, createTestProject, refusal, luaStep as script } from '../../../testing/workflows.ts';
import { taskOperations } from '../../tasks/operations.ts';
import { workflowOperations } from '../../workflows/operations.ts';
import { runOperations } from '../operations.ts';
import { TestRunInput } from './schemas.ts';

const {
  workflows_create: create,
  workflows_patch: patch,
  workflows_archive: archive,
  workflows_list: listWorkflows,
  workflows_publish_version: publish,
  workflows_list_versions: listVersions,
  workflows_get_version: getVersion,
} = operationsByName(workflowOperations);
const {
  workflows_execute_command: command,
  workflows_start_test_run: startTest,
  workflows_list_runs: listRuns,
  runs_get_summary: summary,
  runs_get_context: runContext,
  runs_rerun: rerun,
} = operationsByName(runOperations);
const { tasks_complete: complete } = operationsByName(taskOperations);

let service: RunningService;
let tenant: TestTenant;
let strangers: Principal[];

beforeAll(async () => {
  service = await startTestService();
  tenant = await createTestTenant(service.services, { slug: 'acme' });
  const rival = await createTestTenant(service.services, { slug: 'rival' });
  const second = await createTestProject(service.services, tenant, 'second');
  strangers = [rival.owner, second.contributor];
});
afterAll(() => service.close());

const as = (principal: Principal = tenant.contributor) => contextFor(service.services, principal);
/** Returns the contributor with a token of these scopes. */
const carrying = (...carried: Scope[]) => withScopes(tenant.contributor, ...carried);
const draft = async (graph: Graph, run_setup: JsonMap = {}) =>
  (await call(create, as(), { name: 'Tried', graph, run_setup })).id;
const doubled: Graph = {
  steps: [script('a', 'return input.n * 2'), script('b', 'return steps.a.result + 1', 'a')],
};
const start = (id: string, input: Record<string, unknown> = {}, principal?: Principal) =>
  call(startTest, as(principal), { id, ...input });

/** Starts a test run and returns its results once it has ended. */
async function outcome(id: string, input: Record<string, unknown> = {}) {
  const { run_id: runID } = await start(id, input);
  await reached(service.services, tenant.contributor, { id, runID });
  const { steps } = await call(runContext, as(), { id, runID });
  const { status, test: isTest, version } = await call(summary, as(), { id, runID });
  const results = Object.fromEntries(Object.entries(steps).map(([step, { result }]) => [step, result]));
  return { runID, status, isTest, version, results };
}

describe('a test run of the draft', () => {
  test('executes it as it was at the start, without publishing it', async () => {
    const id = await draft(doubled);
    const first = await outcome(id, { params: { n: 4 } });
    expect(first).toMatchObject({ status: 'completed', isTest: true, version: -1, results: { a: 8, b: 9 } });
    await call(patch, as(), { id, graph: { steps: [script('a', 'return "other"')] } });
    expect(await outcome(id)).toMatchObject({ version: -2, results: { a: 'other' } });
    expect((await call(getVersion, as(tenant.viewer), { id, version: -1 })).graph_snapshot).toEqual(doubled);
    expect((await call(listVersions, as(), { id })).versions).toEqual([]);
    const refused = await refusal(call(command, as(), { id, command: 'start', params: {} }));
    expect(refused.code).toBe('no_published_version');
  });

  test('leaves the versions and their runs unchanged', async () => {
    const id = await draft({ steps: [script('a', 'return 1')] });
    await call(publish, as(), { id });
    await call(patch, as(), { id, graph: { steps: [script('a', 'return 2')] } });
    const { runID } = await outcome(id);
    const { run_id } = await call(command, as(), { id, command: 'start', params: {} });
    await reached(service.services, tenant.contributor, { id, runID: run_id });
    expect(await call(summary, as(), { id, runID: run_id })).toMatchObject({ version: 1, test: false });
    const listedRuns = async (filter: object) =>
      (await call(listRuns, as(), { id, ...filter })).runs.map(run => [run.run_id, run.test]);
    expect(await listedRuns({})).toEqual([
      [run_id, false],
      [runID, true],
    ]);
    expect(await listedRuns({ test: 'true' })).toEqual([[runID, true]]);
    expect(await listedRuns({ test: 'false' })).toEqual([[run_id, false]]);
    const { workflows } = await call(listWorkflows, as(), {});
    expect(workflows.find(workflow => workflow.id === id)?.recent_runs.map(run => run.run_id)).toEqual([run_id]);
    expect((await call(publish, as(), { id })).version).toBe(2);
  });

  test('of an equal draft uses the same snapshot, and concurrent test runs of different drafts use different ones', async () => {
    const id = await draft(doubled);
    const versionOf = async (runID: string) => (await call(summary, as(), { id, runID })).version;
    const [one, two] = [await start(id), await start(id)];
    expect([await versionOf(one.run_id), await versionOf(two.run_id)]).toEqual([-1, -1]);
    await call(patch, as(), { id, run_setup: { saved_inputs: [{ name: 'Large', input: { n: 900 } }] } });
    expect(await versionOf((await start(id)).run_id)).toBe(-1);
    const others = await Promise.all([1, 2, 3].map(n => outcome(id, { step: 'a', params: { n } })));
    expect(others.map(({ results }) => results.a)).toEqual([2, 4, 6]);
  });

  test('waits for people, and can be rerun like any other run', async () => {
    const id = await draft({ steps: [{ id: 'ask', type: 'human_task' }] });
    const { run_id: runID } = await start(id);
    await reached(service.services, tenant.contributor, { id, runID }, 'blocked');
    await call(complete, as(), { id, runID, task_id: 'ask', approved: true });
    await reached(service.services, tenant.contributor, { id, runID });
    const again = await call(rerun, as(), { id, runID });
    expect(await call(summary, as(), { id, runID: again.run_id })).toMatchObject({ test: true, version: -1 });
  });

  test('starts once for each Idempotency-Key, though the draft has changed since', async () => {
    const id = await draft(doubled);
    const withKey = (key: string) =>
      contextFor(service.services, tenant.contributor, { headers: new Map([['idempotency-key', key]]) });
    const key = newId();
    const request = { id, params: { n: 4 } };
    const answers = await Promise.all([1, 2, 3].map(() => call(startTest, withKey(key), request)));
    await call(patch, as(), { id, graph: { steps: [script('a', 'return 1')] } });
    answers.push(await call(startTest, withKey(key), request));
    expect(new Set(answers.map(answer => JSON.stringify(answer))).size).toBe(1);
    expect((await call(listRuns, as(), { id })).runs.map(run => run.run_id)).toEqual([answers[0]?.run_id]);
    const reused = await refusal(call(startTest, withKey(key), { ...request, step: 'a' }));
    expect(reused.code).toBe('idempotency_key_reused');
    expect((await call(startTest, withKey(newId()), request)).run_id).not.toBe(answers[0]?.run_id);
  });

  test('takes the saved inputs of the draft', async () => {
    const id = await draft(doubled, { trigger_payload: { n: 10 }, use_as_default: true });
    expect((await outcome(id)).results).toEqual({ a: 20, b: 21 });
  });
});

describe('a test of one step', () => {
  const chained: Graph = {
    steps: [
      { id: 'broken', type: 'lua_script', script: 'return = 1' },
      { id: 'ask', type: 'human_task', depends_on: ['broken'] },
      { ...script('sum', 'return {ask = steps.ask.result, n = input.n}', 'ask'), disabled: true },
      { id: 'check', type: 'condition', expression: 'steps.sum.result.n > 1', depends_on: ['sum'], then: ['after'] },
      script('after', 'return 1', 'check'),
    ],
  };

  test('executes only that step, with the results that are given for the steps before it', async () => {
    const id = await draft(chained);
    const done = await outcome(id, { step: 'sum', params: { n: 3 }, results: { ask: { approved: true } } });
    expect(done).toMatchObject({ status: 'completed', results: { sum: { ask: { approved: true }, n: 3 } } });
    const check = await outcome(id, { step: 'check', results: { sum: { n: 2 } } });
    expect(check.results.check).toMatchObject({ value: true, branch: 'then' });
    expect(check.results).not.toHaveProperty('after');
  });

  test('takes results and input from an earlier run, unless they are given', async () => {
    const id = await draft(doubled);
    const { runID } = await outcome(id, { params: { n: 4 } });
    const step = { step: 'b', from_run: runID };
    expect((await outcome(id, step)).results.b).toBe(9);
    expect((await outcome(id, { ...step, results: { a: 1 } })).results.b).toBe(2);
    expect((await outcome(id, { step: 'a', from_run: runID })).results.a).toBe(8);
    expect((await outcome(id, { step: 'a', from_run: runID, params: { n: 1 } })).results.a).toBe(2);
    expect((await refusal(start(id, { step: 'b', from_run: newId() }))).status).toBe(404);
    const foreign = await outcome(await draft(doubled), { params: { n: 1 } });
    expect((await refusal(start(id, { step: 'b', from_run: foreign.runID }))).status).toBe(404);
  });

  const looped: Graph = {
    steps: [
      script('orders', 'return = 1'),
      {
        id: 'each',
        type: 'for_each',
        items: '{{steps.orders.result}}',
        depends_on: ['orders'],
        steps: [
          script('price', 'return = 1'),
          {
            ...script(
              'sum',
              'return {item = item, index = index, price = steps.price.result, all = steps.orders.result, n = input.n}',
              'price',
            ),
            disabled: true,
          },
          {
            id: 'inner',
            type: 'for_each',
            items: '[1]',
            depends_on: ['sum'],
            steps: [
              script('items', 'return {item, steps.sum.result, steps.orders.result}'),
              script('bad', 'error("no")'),
            ],
          },
        ] as unknown as JsonMap[],
      },
    ],
  };

  test('in a loop executes it for one item', async () => {
    const id = await draft(looped);
    const given = { params: { n: 3 }, item: { id: 7, tags: [] }, results: { price: { net: 2 }, orders: [1, 2] } };
    const done = await outcome(id, { ...given, step: 'each.sum' });
    const result = { item: given.item, index: 0, price: { net: 2 }, all: [1, 2], n: 3 };
    expect(done).toMatchObject({ status: 'completed', results: { each: { results: [result], failed: 0 } } });
    const without = await outcome(id, { step: 'each.sum' });
    expect(without.results.each).toEqual({ results: [{ index: 0 }], failed: 0 });
    const nested = await outcome(id, { step: 'each.inner.items', item: 'a', results: { sum: 5, orders: 'o' } });
    expect(nested.results.inner).toEqual({ results: [['a', 5, 'o']], failed: 0 });
    const whole = await outcome(id, { step: 'each.inner', results: { orders: 2 } });
    expect(whole.status).toBe('failed');
    const failing = await outcome(id, { step: 'each.inner.bad' });
    expect(failing.status).toBe('failed');
    const { steps } = await call(summary, as(), { id, runID: failing.runID });
    expect(steps.find(({ step_id }) => step_id === 'inner')?.error).toMatchObject({
      message: expect.stringMatching(/"bad".*no/),
    });
  });

  test.each<[string, Record<string, unknown>, string, string | undefined]>([
    ['that is missing', { step: 'gone' }, 'unknown_step', 'step'],
    ['that is incomplete', { step: 'broken' }, 'invalid_graph', 'steps.broken.script'],
    ['with results of a later step', { step: 'sum', results: { after: 1 } }, 'invalid', 'results.after'],
    ['with its own result', { step: 'sum', results: { sum: 1 } }, 'invalid', 'results.sum'],
    ['with seeds', { step: 'sum', params: { seed_results: {} } }, 'invalid', 'params.seed_results'],
    ['with results but no step', { results: {} }, 'invalid', 'results'],
    ['with a run but no step', { from_run: newId() }, 'invalid', 'from_run'],
    ['with an item but no step', { item: 1 }, 'invalid', 'item'],
    ['with an item, though it is in no loop', { step: 'sum', item: 1 }, 'invalid', 'item'],
    ['in a step that is no loop', { step: 'sum.after' }, 'unknown_step', 'step'],
    ['without an id', { step: 'sum.' }, 'unknown_step', 'step'],
  ])('%s is 422', async (_what, input, code, path) => {
    const error = await refusal(start(await draft(chained), input));
    expect([error.status, error.code]).toEqual([422, code]);
    if (code !== 'invalid_graph') expect(error.details?.map(detail => detail.path)).toEqual([path]);
  });

  test('has a path of at most three ids', () => {
    const accepts = (length: number) => TestRunInput.shape.step.safeParse('a'.repeat(length)).success;
    expect([0, 1, 193, 194, 195].map(accepts)).toEqual([false, true, true, true, false]);
  });

  test.each<[string, Record<string, unknown>, string, string | undefined]>([
    ['that is missing', { step: 'each.gone' }, 'unknown_step', 'step'],
    ['of another loop', { step: 'each.items' }, 'unknown_step', 'step'],
    ['without its loop', { step: 'sum' }, 'unknown_step', 'step'],
    ['with results of a later step', { step: 'each.sum', results: { inner: 1 } }, 'invalid', 'results.inner'],
    ['with the result of its loop', { step: 'each.sum', results: { each: 1 } }, 'invalid', 'results.each'],
    ['with a result of the test itself', { step: 'each.sum', results: { items: 1 } }, 'invalid', 'results.items'],
  ])('in a loop %s is 422', async (_what, input, code, path) => {
    const error = await refusal(start(await draft(looped), input));
    expect([error.status, error.code, error.details?.map(detail => detail.path)]).toEqual([422, code, [path]]);
  });
});

describe('a test run is refused', () => {
  test('for a draft that could not be published, with its problems', async () => {
    for (const graph of [{ steps: [] }, { steps: [script('a', 'return = 1')] }]) {
      const error = await refusal(start(await draft(graph)));
      expect([error.status, error.code]).toEqual([422, 'invalid_graph']);
      expect(error.details).toHaveLength(1);
    }
  });

  test('for params that no start accepts, and leaves no run behind', async () => {
    const id = await draft(doubled);
    const error = await refusal(start(id, { params: { mode: 'odd' } }));
    expect([error.status, error.code]).toEqual([422, 'invalid_input']);
    expect((await refusal(start(id, { params: { trigger_steps: { gone: {} } } }))).code).toBe('unknown_trigger_step');
    expect((await call(listRuns, as(), { id })).runs).toEqual([]);
  });

  test('for an archived workflow', async () => {
    const id = await draft(doubled);
    await call(archive, as(), { id });
    const error = await refusal(start(id));
    expect([error.status, error.code]).toEqual([409, 'workflow_archived']);
  });

  test('for a workflow of another workspace or project, and one that does not exist', async () => {
    const id = await draft(doubled);
    for (const stranger of strangers) expect((await refusal(start(id, {}, stranger))).status).toBe(404);
    expect((await refusal(start(newId()))).status).toBe(404);
  });

  test('for a token that may run, but not edit, or lacks the scope of a type of step', async () => {
    const id = await draft(doubled);
    const error = await refusal(start(id, {}, carrying('workflow:run')));
    expect([error.status, error.code]).toEqual([403, 'insufficient_scope']);
    expect(await start(id, {}, carrying('workflow:run', 'workflow:write'))).toMatchObject({ status: 'running' });
    expect(await start(id, {}, carrying(...scopes))).toMatchObject({ status: 'running' });
  });
});
