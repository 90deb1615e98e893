import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../../platform/ids.ts';
import { createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { operationsByName } from '../../../testing/operations.ts';
import { asking, publishGraph, type RunningService, reached, startTestService } from '../../../testing/runs.ts';
import { call, contextFor, refusal } from '../../../testing/workflows.ts';
import { runOperations } from '../operations.ts';
import { applyEvent, newRunState, stateOf } from './run-state.ts';

const {
  workflows_execute_command: command,
  runs_get_snapshot: snapshot,
  runs_list_events: events,
} = operationsByName(runOperations);

let service: RunningService;
let tenant: TestTenant;

beforeAll(async () => {
  service = await startTestService();
  tenant = await createTestTenant(service.services, { slug: 'acme' });
});
afterAll(() => service.close());

const as = (principal = tenant.contributor) => contextFor(service.services, principal);

async function failedRun(): Promise<{ id: string; runID: string }> {
  const steps = [
    { id: 'a', type: 'lua_script', script: 'log("hello") return { large = string.rep("x", 20000) }' },
    { id: 'b', type: 'lua_script', script: 'error("boom")', depends_on: ['a'], retry_count: 1, retry_delay_s: 0 },
    { id: 'c', type: 'lua_script', script: 'return 1', depends_on: ['b'] },
    { id: 'd', type: 'lua_script', script: 'return 1', disabled: true },
  ];
  const id = await publishGraph(service.services, tenant.owner, { steps: steps as never });
  const { run_id } = await call(command, as(), { id, command: 'start' });
  const ref = { id, runID: run_id };
  await reached(service.services, tenant.owner, ref);
  return ref;
}

test('a snapshot is folded from the whole log, without results and logs', async () => {
  const ref = await failedRun();
  const found = await call(snapshot, as(tenant.viewer), ref);
  const { events: log } = await call(events, as(), ref);
  const folded = newRunState(['a', 'b', 'c', 'd']);
  for (const event of log) applyEvent(folded, event);
  expect(stateOf(found, ['a', 'b', 'c', 'd'])).toEqual(folded);
  expect(found).toMatchObject({
    status: 'failed',
    orchestration_phase: 'complete',
    run_complete: true,
    steps_done: 4,
    steps_skipped: 2,
    stopping: false,
    error: { step_id: 'b' },
    last_seq: log.at(-1)?.seq,
  });
  expect(JSON.stringify(found)).not.toMatch(/xxx|hello/);
});

test('the snapshot of a run that waits includes the task', async () => {
  const id = await publishGraph(service.services, tenant.owner, asking({ name: 'Look at it' }));
  const { run_id } = await call(command, as(), { id, command: 'start' });
  await reached(service.services, tenant.owner, { id, runID: run_id }, 'blocked');
  const found = await call(snapshot, as(), { id, runID: run_id });
  expect(found).toMatchObject({ status: 'running', run_complete: false, ended_at: null, pending_tasks: 1 });
  expect(found.steps).toMatchObject([{ step_id: 'ask', status: 'waiting', task_name: 'Look at it' }]);
  expect(found.steps[0]?.attempts).toMatchObject([{ attempt: 1, outcome: 'waiting', ended_at: null }]);
});

test('a run of another workspace has no snapshot', async () => {
  const ref = await failedRun();
  const other = await createTestTenant(service.services, { slug: 'rival' });
  expect(await refusal(call(snapshot, as(other.owner), ref))).toMatchObject({ status: 404 });
  expect(await refusal(call(snapshot, as(), { ...ref, runID: newId() }))).toMatchObject({ status: 404 });
});

test('the list can be limited to failures, also those of one step', async () => {
  const ref = await failedRun();
  const types = async (filter: object) =>
    (await call(events, as(), { ...ref, failures: 'true', ...filter })).events.map(event => event.event_type);
  expect(await types({})).toEqual(['step_retrying', 'step_failed']);
  expect(await types({ step_id: 'b' })).toEqual(['step_retrying', 'step_failed']);
  expect(await types({ step_id: 'a' })).toEqual([]);
});
