import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Principal } from '../../../operation/context.ts';
import type { Scope } from '../../../orchestrator/ports/authority.ts';
import { createTestTenant, type TestTenant, withScopes } from '../../../testing/identity.ts';
import { operationsByName } from '../../../testing/operations.ts';
import { type RunningService, reached, startTestService } from '../../../testing/runs.ts';
import { call, contextFor, refusal, luaStep as script } from '../../../testing/workflows.ts';
import { workflowOperations } from '../../workflows/operations.ts';
import { runOperations } from '../operations.ts';

const {
  workflows_create: create,
  workflows_edit: edit,
  workflows_publish_version: publish,
} = operationsByName(workflowOperations);
const {
  workflows_execute_command: command,
  runs_get_summary: summary,
  runs_get_context: runContext,
  runs_rerun: rerun,
  runs_get_snapshot: snapshot,
  runs_get_step: step,
  workflows_list_runs: list,
} = operationsByName(runOperations);

let service: RunningService;
let tenant: TestTenant;

beforeAll(async () => {
  service = await startTestService();
  tenant = await createTestTenant(service.services, { slug: 'acme' });
});
afterAll(() => service.close());

const as = (principal: Principal = tenant.contributor) => contextFor(service.services, principal);
const carrying = (...carried: Scope[]) => withScopes(tenant.contributor, ...carried);
const steps = [
  script('a', 'return input.n * 2'),
  script('b', 'error("no luck")', 'a'),
  script('c', 'return steps.b.result + 1', 'b'),
];

/** Runs version 1, which fails in `b`, and fixes the draft. */
async function failedRun(): Promise<{ id: string; runID: string }> {
  const { id } = await call(create, as(), { name: 'Mended', graph: { steps } });
  await call(publish, as(), { id, changelog: 'First' });
  const { run_id } = await call(command, as(), { id, command: 'start', params: { n: 5 } });
  const ref = { id, runID: run_id };
  await reached(service.services, tenant.owner, ref);
  const mended = { type: 'update_step', step: 'b', set: { script: 'return steps.a.result * 10' } } as const;
  await call(edit, as(), { id, edits: [mended] });
  return ref;
}

async function resultsOf(id: string, runID: string): Promise<Record<string, unknown>> {
  await reached(service.services, tenant.owner, { id, runID });
  const { steps: found } = await call(runContext, as(), { id, runID });
  return Object.fromEntries(Object.entries(found).map(([step, { result }]) => [step, result]));
}

test('the draft continues a failed run as a test run, with the results that are still valid', async () => {
  const ref = await failedRun();
  const { run_id } = await call(rerun, as(), { ...ref, from_step: 'b', version: 'draft' });
  expect(await resultsOf(ref.id, run_id)).toEqual({ a: 10, b: 100, c: 101 });
  const found = await call(summary, as(), { id: ref.id, runID: run_id });
  expect(found).toMatchObject({ status: 'completed', test: true });
  expect(found.steps.map(({ status }) => status)).toEqual(['skipped', 'completed', 'completed']);
});

test('a version by its number or the latest continues it, in the same session', async () => {
  const ref = await failedRun();
  const same = await call(rerun, as(), { ...ref, from_step: 'b', version: 'latest' });
  await reached(service.services, tenant.owner, { id: ref.id, runID: same.run_id });
  expect(await call(summary, as(), { id: ref.id, runID: same.run_id })).toMatchObject({ status: 'failed', version: 1 });
  await call(publish, as(), { id: ref.id, changelog: 'Second' });
  for (const version of ['latest', 2] as const) {
    const { run_id } = await call(rerun, as(), { ...ref, from_step: 'b', version });
    expect(await resultsOf(ref.id, run_id)).toEqual({ a: 10, b: 100, c: 101 });
    expect(await call(summary, as(), { id: ref.id, runID: run_id })).toMatchObject({
      version: 2,
      test: false,
      session_id: ref.runID,
    });
  }
});

test('an invalid continuation of a run is refused', async () => {
  const ref = await failedRun();
  const refused = async (more: object) => refusal(call(rerun, as(), { ...ref, ...more }));
  expect(await refused({ version: 'latest' })).toMatchObject({ status: 422 });
  expect(await refused({ from_step: 'b', version: 9 })).toMatchObject({ status: 404 });
  expect(await refused({ from_step: 'nowhere', version: 'draft' })).toMatchObject({ code: 'unknown_step' });
  await call(edit, as(), { id: ref.id, edits: [{ type: 'update_step', step: 'b', set: { script: 'return (' } }] });
  expect(await refused({ from_step: 'b', version: 'draft' })).toMatchObject({ code: 'invalid_graph' });
  const runs = carrying('workflow:run', 'workflow:read');
  expect(await refusal(call(rerun, as(runs), { ...ref, from_step: 'b', version: 'latest' }))).toMatchObject({
    status: 403,
    code: 'insufficient_scope',
  });
});

test('a rerun and its original run link to each other, and the rerun lists the reused steps', async () => {
  const ref = await failedRun();
  const { run_id } = await call(rerun, as(), { ...ref, from_step: 'b', version: 'draft' });
  await resultsOf(ref.id, run_id);
  const found = await call(snapshot, as(), { id: ref.id, runID: run_id });
  expect(found).toMatchObject({
    rerun_of: ref.runID,
    original: { run_id: ref.runID, workflow_id: ref.id, from_step: 'b' },
    reruns: [],
  });
  expect(found.steps.map(({ step_id, reused }) => [step_id, reused])).toEqual([
    ['a', true],
    ['b', false],
    ['c', false],
  ]);
  expect(await call(step, as(), { id: ref.id, runID: run_id, step_id: 'a' })).toMatchObject({
    reused: true,
    has_result: true,
    result: 10,
  });
  expect(await call(snapshot, as(), ref)).toMatchObject({
    rerun_of: null,
    original: null,
    reruns: [{ run_id, status: 'completed' }],
  });
  const listedIds = async (test: 'true' | 'false' | 'reruns') =>
    (await call(list, as(), { id: ref.id, test })).runs.map(each => each.run_id);
  expect(await listedIds('reruns')).toEqual([run_id, ref.runID]);
  expect(await listedIds('false')).toEqual([ref.runID]);
  expect(await listedIds('true')).toEqual([run_id]);
});
