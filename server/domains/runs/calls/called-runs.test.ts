import { afterAll, beforeAll, expect, test } from 'vitest';
import { operations } from '../../../api/operations.ts';
import { newId } from '../../../platform/ids.ts';
import { createCall } from '../../../testing/call.ts';
import { startTestContainer, type TestContainer } from '../../../testing/container.ts';
import { createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { reached } from '../../../testing/runs.ts';
import { createTestProject } from '../../../testing/workflows.ts';

type Ref = { id: string; runID: string };
type Called = {
  step_id: string;
  attempt: number;
  run_id: string;
  workflow_id: string;
  run: { status: string; workflow_name: string } | null;
};
type Page = { called_runs: Called[]; next_cursor: string | null };

let service: TestContainer;
let acme: TestTenant;
let call: ReturnType<typeof createCall<typeof operations>>;
/** A workflow that fails for `n` 2. */
let callee: string;

beforeAll(async () => {
  service = await startTestContainer({ BATON_SHUTDOWN_GRACE_S: '0' });
  acme = await createTestTenant(service.container.services, { slug: 'acme' });
  call = createCall(service.container.services, operations);
  callee = await publish('Called', [
    { id: 'only', type: 'lua_script', script: 'if input.n == 2 then error("no") end return input.n' },
  ]);
});
afterAll(() => service.close());

type Name = (typeof operations)[number]['name'];
const callOperation = <T>(name: Name, input: object, as = acme.contributor) => call(as, name, input) as Promise<T>;
const list = (ref: Ref, more: object = {}, as = acme.viewer) =>
  callOperation<Page>('runs_list_called', { ...ref, ...more }, as);

async function publish(name: string, steps: object[]): Promise<string> {
  const { id } = await callOperation<{ id: string }>('workflows_create', { name, graph: { steps } });
  await callOperation('workflows_publish_version', { id });
  return id;
}

async function run(id: string, input: object = {}): Promise<Ref> {
  const params = { trigger_payload: input };
  const { run_id } = await callOperation<{ run_id: string }>('workflows_execute_command', {
    id,
    command: 'start',
    params,
  });
  const ref = { id, runID: run_id };
  await reached(service.container.services, acme.owner, ref);
  return ref;
}

/** Runs a loop over 1, 2 and 3, then a step whose id starts with the id of the loop. Both call the workflow. */
async function runLoop(): Promise<Ref> {
  const calls = { type: 'call_workflow', workflow_id: callee };
  const id = await publish('Calling', [
    {
      id: 'each',
      type: 'for_each',
      items: '[1, 2, 3]',
      concurrency: 1,
      on_item_error: 'continue',
      steps: [{ ...calls, id: 'call', input: { n: '{{item}}' }, retry_count: 1, retry_delay_s: 0 }],
    },
    { ...calls, id: 'each_more', input: { n: 4 }, depends_on: ['each'] },
  ]);
  return run(id);
}
const idsOf = ({ called_runs }: Page) => called_runs.map(({ step_id, attempt }) => `${step_id} #${attempt}`);

test('the runs that a loop has called are listed after it has ended, with every attempt', async () => {
  const ref = await runLoop();
  const all = await list(ref);
  expect(idsOf(all)).toEqual(['each.0.call #1', 'each.1.call #1', 'each.1.call #2', 'each.2.call #1', 'each_more #1']);
  // The row of a run that ends quickly lags behind its log for a moment.
  const statuses = async () => (await list(ref)).called_runs.map(({ run: called }) => called?.status);
  await expect.poll(statuses).toEqual(['completed', 'failed', 'failed', 'completed', 'completed']);
  for (const { run_id: runID, workflow_id: id, step_id } of all.called_runs) {
    expect(await callOperation('runs_get_summary', { id, runID })).toMatchObject({
      parent: { run_id: ref.runID, workflow_id: ref.id, step_id },
    });
  }
  expect(all.called_runs[0]?.run).toMatchObject({ workflow_name: 'Called', workflow_id: callee });
});

test('the runs called by a step include those called by the steps that it added, and by no other step', async () => {
  const ref = await runLoop();
  expect(idsOf(await list(ref, { step_id: 'each' }))).toHaveLength(4);
  expect(idsOf(await list(ref, { step_id: 'each.1.call' }))).toEqual(['each.1.call #1', 'each.1.call #2']);
  expect(idsOf(await list(ref, { step_id: 'each_more' }))).toEqual(['each_more #1']);
  expect(idsOf(await list(ref, { step_id: 'other' }))).toEqual([]);
});

test('they are read page by page', async () => {
  const ref = await runLoop();
  const first = await list(ref, { limit: '3' });
  const second = await list(ref, { limit: '3', cursor: first.next_cursor });
  expect([...idsOf(first), ...idsOf(second)]).toEqual(idsOf(await list(ref)));
  expect([first.called_runs.length, second.next_cursor]).toEqual([3, null]);
  expect((await list(ref, { limit: '5' })).next_cursor).toBe(null);
  expect((await list(ref, { limit: '4' })).next_cursor).not.toBe(null);
});

test('a called run that was deleted is still named', async () => {
  const ref = await runLoop();
  const one = async () => (await list(ref)).called_runs[0];
  await expect.poll(async () => (await one())?.run?.status).toBe('completed');
  const first = await one();
  await service.db.pool.query('DELETE FROM runs WHERE id = $1', [first?.run_id]);
  expect(await one()).toEqual({ ...first, run: null });
});

test('a run that has called no other run has an empty list', async () => {
  expect(await list(await run(callee, { n: 1 }))).toEqual({ called_runs: [], next_cursor: null });
});

test('the runs of another workspace or project are not found, and a foreign cursor is refused', async () => {
  const ref = await runLoop();
  const rival = await createTestTenant(service.container.services, { slug: 'rival' });
  const { contributor } = await createTestProject(service.container.services, acme, 'elsewhere');
  for (const as of [rival.owner, contributor])
    await expect(list(ref, {}, as)).rejects.toMatchObject({ status: 404, code: 'not_found' });
  await expect(list({ ...ref, runID: newId() })).rejects.toMatchObject({ status: 404 });
  for (const wrong of [{ cursor: 'x' }, { limit: '0' }, { limit: '201' }, { step_id: '' }])
    await expect(list(ref, wrong)).rejects.toMatchObject({ status: 422 });
});
