import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { operationsByName } from '../../../testing/operations.ts';
import { publishGraph, type RunningService, reached, startTestService } from '../../../testing/runs.ts';
import { call, contextFor, refusal } from '../../../testing/workflows.ts';
import { runOperations } from '../operations.ts';

const { workflows_execute_command: command, runs_get_step: step } = operationsByName(runOperations);

let service: RunningService;
let tenant: TestTenant;

beforeAll(async () => {
  service = await startTestService();
  tenant = await createTestTenant(service.services, { slug: 'acme' });
});
afterAll(() => service.close());

const as = (principal = tenant.contributor) => contextFor(service.services, principal);

async function run(steps: object[], params: object, ...phase: 'blocked'[]): Promise<{ id: string; runID: string }> {
  const id = await publishGraph(service.services, tenant.owner, { steps: steps as never });
  const { run_id } = await call(command, as(), { id, command: 'start', params });
  const ref = { id, runID: run_id };
  await reached(service.services, tenant.owner, ref, ...phase);
  return ref;
}

test('a step shows the values of its templates, the values that its script reads, and its result', async () => {
  const script = 'local who = {{input.who}}\nreturn who .. steps.a.result.n';
  const ref = await run(
    [
      { id: 'a', type: 'lua_script', script: 'return { n = 7 }' },
      { id: 'b', type: 'lua_script', script, depends_on: ['a'] },
    ],
    { who: 'Ada' },
  );
  expect(await call(step, as(tenant.viewer), { ...ref, step_id: 'b' })).toEqual({
    run_id: ref.runID,
    step_id: 'b',
    reused: false,
    definition: { id: 'b', type: 'lua_script', script, depends_on: ['a'] },
    resolved: [
      { name: 'input.who', value: 'Ada', problem: null },
      { name: 'steps.a.result', value: { n: 7 }, problem: null },
    ],
    has_result: true,
    result: 'Ada7',
  });
});

test('a field with templates is shown resolved, with the override of the run', async () => {
  const asking = {
    id: 'ask',
    type: 'human_task',
    name: 'Ask {{input.who}}',
    instructions: 'Is {{input.missing}} there?',
    overridable: ['name'],
  };
  const params = { who: 'Ada', trigger_steps: { ask: { name: 'Please ask {{input.who}}' } } };
  const ref = await run([asking, { id: 'after', type: 'lua_script', script: 'return 1' }], params);
  const found = await call(step, as(), { ...ref, step_id: 'ask' });
  expect(found.definition).toMatchObject({ name: 'Please ask {{input.who}}' });
  expect(found.resolved).toEqual([
    { name: 'name', value: 'Please ask Ada', problem: null },
    { name: 'instructions', value: null, problem: expect.stringContaining('"missing"') },
  ]);
  expect(found).toMatchObject({ has_result: false, result: null });
});

test('values that are too large to show are listed by name', async () => {
  const ref = await run(
    [
      { id: 'a', type: 'lua_script', script: 'return string.rep("x", 100000)' },
      { id: 'b', type: 'lua_script', script: 'return #steps.a.result', depends_on: ['a'] },
    ],
    {},
  );
  const { resolved } = await call(step, as(), { ...ref, step_id: 'b' });
  expect(resolved).toEqual([{ name: 'steps.a.result', value: null, problem: expect.stringContaining('98 KiB') }]);
});

test('a step that the version does not have, and a run of another workspace, are not found', async () => {
  const ref = await run([{ id: 'a', type: 'lua_script', script: 'return 1' }], {});
  expect(await refusal(call(step, as(), { ...ref, step_id: 'b' }))).toMatchObject({ status: 404 });
  const { owner } = await createTestTenant(service.services, { slug: 'rival' });
  expect(await refusal(call(step, as(owner), { ...ref, step_id: 'a' }))).toMatchObject({ status: 404 });
});
