import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Principal } from '../../operation/context.ts';
import { createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { operationsByName } from '../../testing/operations.ts';
import { asking, publishGraph, type RunningService, reached, startTestService } from '../../testing/runs.ts';
import { call, contextFor, createTestProject, refusal } from '../../testing/workflows.ts';
import { runOperations } from '../runs/operations.ts';
import { taskOperations } from './operations.ts';

const { workflows_execute_command: command } = operationsByName(runOperations);
const {
  tasks_list_pending: pending,
  tasks_list_answered: answered,
  tasks_list_run: ofRun,
  tasks_complete: complete,
} = operationsByName(taskOperations);

let service: RunningService;
let tenant: TestTenant;
let other: TestTenant;
let project: Awaited<ReturnType<typeof createTestProject>>;
/** Runs of three workflows: `lamp` waits, `chair` and `desk` are answered in this order; `desk` is in the second project. */
let runs: Record<'lamp' | 'chair' | 'desk', { id: string; runID: string }>;

const as = (principal: Principal) => contextFor(service.services, principal);

async function createTask(owner: Principal, step: Record<string, unknown>) {
  const id = await publishGraph(service.services, owner, asking(step));
  const { run_id } = await call(command, as(owner), { id, command: 'start', params: { who: 'Ada' } });
  const ref = { id, runID: run_id };
  await reached(service.services, owner, ref, 'blocked');
  return ref;
}

beforeAll(async () => {
  service = await startTestService();
  tenant = await createTestTenant(service.services, { slug: 'acme' });
  other = await createTestTenant(service.services, { slug: 'rival' });
  project = await createTestProject(service.services, tenant, 'second');
  const elsewhere = { ...tenant.owner, projectId: project.projectId };
  runs = {
    lamp: await createTask(tenant.owner, { name: 'Buy a lamp', timeout_s: 3_600 }),
    chair: await createTask(tenant.owner, { name: 'Buy a chair', instructions: '100% oak' }),
    desk: await createTask(elsewhere, { name: 'Buy a desk' }),
  };
  await call(complete, as(tenant.contributor), { ...runs.chair, task_id: 'ask', approved: true });
  await call(complete, as(elsewhere), { ...runs.desk, task_id: 'ask', approved: false });
});
afterAll(() => service.close());

const names = (page: { tasks: { name: string }[] }) => page.tasks.map(({ name }) => name);

describe('pending tasks', () => {
  const list = async (filter: Record<string, unknown>, principal: Principal = tenant.owner) =>
    names(await call(pending, as(principal), filter));

  test('are found by a part of their texts, which is not read as a pattern', async () => {
    const carpet = await createTask(tenant.owner, { name: 'Buy a carpet', instructions: '100% wool, 3_000 knots' });
    expect(await list({ q: 'LAMP' })).toEqual(['Buy a lamp']);
    expect(await list({ q: '0% wool' })).toEqual(['Buy a carpet']);
    expect(await list({ q: 'under test' })).toEqual(['Buy a carpet', 'Buy a lamp']);
    expect(await list({ q: '' })).toEqual(['Buy a carpet', 'Buy a lamp']);
    for (const q of ['100%%', 'B_y', 'desk', '\\']) expect(await list({ q }), q).toEqual([]);
    await call(complete, as(tenant.owner), { ...carpet, task_id: 'ask', approved: true });
  });

  test('are shown by the time until they are due', async () => {
    expect(await list({ due_within_s: 3_600 })).toEqual(['Buy a lamp']);
    expect(await list({ due_within_s: 60 })).toEqual([]);
  });

  test('are shown by project, for the projects that the user can see', async () => {
    expect(await list({ project_id: tenant.owner.projectId })).toEqual(['Buy a lamp']);
    expect(await list({ project_id: project.projectId })).toEqual([]);
    expect(await list({ project_id: tenant.owner.projectId }, project.contributor)).toEqual([]);
    expect(await list({ project_id: tenant.owner.projectId }, other.owner)).toEqual([]);
  });
});

describe('answered tasks', () => {
  const list = async (filter: Record<string, unknown>, principal: Principal = tenant.owner) =>
    names(await call(answered, as(principal), { workflow_id: runs.chair.id, ...filter }));

  test('come with their answers, the latest first, in pages', async () => {
    const wanted = { q: 'Buy a', completed_by: '' };
    const all = (await call(answered, as(tenant.owner), wanted)).tasks.filter(({ name }) => name !== 'Buy a carpet');
    expect(names({ tasks: all })).toEqual(['Buy a desk', 'Buy a chair']);
    expect(all[1]).toMatchObject({ state: 'completed', approved: true, completed_by: tenant.contributor.email });
    expect([all[1]]).toEqual((await call(ofRun, as(tenant.owner), runs.chair)).tasks);
    const seen: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: { tasks: { run_id: string }[]; next_cursor: string | null } = await call(answered, as(tenant.owner), {
        limit: 1,
        ...(cursor === undefined ? {} : { cursor }),
      });
      seen.push(...page.tasks.map(({ run_id }) => run_id));
      cursor = page.next_cursor;
    }
    expect(seen.filter(id => id === runs.desk.runID || id === runs.chair.runID)).toEqual([
      runs.desk.runID,
      runs.chair.runID,
    ]);
    expect(seen).not.toContain(runs.lamp.runID);
  });

  test('are filtered by text, workflow, project and person', async () => {
    expect(await list({})).toEqual(['Buy a chair']);
    expect(await list({ q: '100% OAK' })).toEqual(['Buy a chair']);
    expect(await list({ q: 'steel' })).toEqual([]);
    expect(await list({ completed_by: tenant.contributor.email.toUpperCase() })).toEqual(['Buy a chair']);
    expect(await list({ completed_by: tenant.owner.email })).toEqual([]);
    expect(await list({ project_id: project.projectId })).toEqual([]);
    expect(await list({ workflow_id: runs.desk.id, project_id: project.projectId })).toEqual(['Buy a desk']);
  });

  test('are shown to those who see the project, and to no other tenant', async () => {
    expect(await list({}, tenant.viewer)).toEqual(['Buy a chair']);
    expect(await list({ workflow_id: runs.desk.id }, tenant.viewer)).toEqual([]);
    expect(await list({ workflow_id: runs.desk.id }, project.contributor)).toEqual(['Buy a desk']);
    expect(await list({}, other.owner)).toEqual([]);
  });
});

test('tasks in loops are listed page by page, while they wait and afterwards', async () => {
  const inner = { id: 'ask', type: 'human_task', name: 'In a loop' };
  const id = await publishGraph(service.services, tenant.owner, {
    steps: [{ id: 'each', type: 'for_each', items: '[1, 2, 3]', concurrency: 3, steps: [inner] }],
  });
  const { run_id: runID } = await call(command, as(tenant.owner), { id, command: 'start' });
  const ref = { id, runID };
  const page = async (list: typeof pending | typeof answered | typeof ofRun, input: object) => {
    const steps: string[] = [];
    for (let more: { cursor?: string } = {}; ; ) {
      const found: { tasks: { task_id: string }[]; next_cursor: string | null } = await call(
        list as typeof pending,
        as(tenant.owner),
        { ...input, limit: 1, ...more },
      );
      steps.push(...found.tasks.map(({ task_id }) => task_id));
      if (found.next_cursor === null) return steps.sort();
      more = { cursor: found.next_cursor };
    }
  };
  const steps = ['each.0.ask', 'each.1.ask', 'each.2.ask'];
  await expect.poll(() => page(pending, { workflow_id: id })).toEqual(steps);
  expect(await page(ofRun, ref)).toEqual(steps);
  for (const task_id of steps) await call(complete, as(tenant.owner), { ...ref, task_id, approved: true });
  expect(await page(answered, { workflow_id: id })).toEqual(steps);
});

test('malformed filters and cursors are refused with 422', async () => {
  const cursor = Buffer.from('[1,2]').toString('base64url');
  const wrong = [{ cursor }, { cursor: 'x' }, { project_id: 'x' }, { q: 'x'.repeat(201) }, { limit: 0 }, { other: 1 }];
  for (const input of wrong) {
    expect((await refusal(call(pending, as(tenant.owner), input))).status, JSON.stringify(input)).toBe(422);
    expect((await refusal(call(answered, as(tenant.owner), input))).status, JSON.stringify(input)).toBe(422);
  }
  for (const due_within_s of [0, 1.5, 31_622_401])
    expect((await refusal(call(pending, as(tenant.owner), { due_within_s }))).status).toBe(422);
  expect((await refusal(call(answered, as(tenant.owner), { assignee: 'x@y.z' }))).status).toBe(422);
});
