import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Principal } from '../../operation/context.ts';
import { createTestMember, createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { operationsByName } from '../../testing/operations.ts';
import { asking, publishGraph, type RunningService, reached, startTestService } from '../../testing/runs.ts';
import { call, contextFor, createTestProject, refusal } from '../../testing/workflows.ts';
import { runOperations } from '../runs/operations.ts';
import { taskOperations } from './operations.ts';

const { workflows_execute_command: command } = operationsByName(runOperations);
const {
  tasks_assign: assign,
  tasks_complete: complete,
  tasks_list_pending: pending,
  tasks_list_run: ofRun,
} = operationsByName(taskOperations);

let service: RunningService;
let tenant: TestTenant;
let other: TestTenant;
let project: Awaited<ReturnType<typeof createTestProject>>;
let ada: Principal;
let bob: Principal;

beforeAll(async () => {
  service = await startTestService();
  tenant = await createTestTenant(service.services, { slug: 'acme' });
  other = await createTestTenant(service.services, { slug: 'rival' });
  project = await createTestProject(service.services, tenant, 'second');
  ada = await createTestMember(service.services, tenant, 'project_contributor', 'ada@acme.example.com');
  bob = await createTestMember(service.services, tenant, 'project_contributor', 'bob@acme.example.com');
});
afterAll(() => service.close());

type Ref = { id: string; runID: string; task_id: string };
const as = (principal: Principal) => contextFor(service.services, principal);

async function createTask(...assignees: string[]): Promise<Ref> {
  const id = await publishGraph(service.services, tenant.owner, asking(assignees.length === 0 ? {} : { assignees }));
  const { run_id: runID } = await call(command, as(tenant.owner), { id, command: 'start', params: { who: 'Ada' } });
  await reached(service.services, tenant.owner, { id, runID }, 'blocked');
  return { id, runID, task_id: 'ask' };
}
const assignTo = (ref: Ref, assignees: unknown, by: Principal) => call(assign, as(by), { ...ref, assignees });
const approve = (ref: Ref, by: Principal) => call(complete, as(by), { ...ref, approved: true });
const codeOf = async (promise: Promise<unknown>) => {
  const { status, code } = await refusal(promise);
  return [status, code];
};

describe('a task', () => {
  test('is claimed, and then only its new assignee can answer it', async () => {
    const ref = await createTask();
    expect(await assignTo(ref, ['ADA@acme.example.com', 'ada@acme.example.com'], ada)).toMatchObject({
      assignees: ['ada@acme.example.com'],
      named_assignees: [],
      assigned_by: 'ada@acme.example.com',
      assigned_at: expect.any(String),
      state: 'pending',
    });
    expect(await codeOf(approve(ref, bob))).toEqual([403, 'not_assignee']);
    await approve(ref, ada);
    const [task] = (await call(ofRun, as(tenant.viewer), ref)).tasks;
    expect(task).toMatchObject({ completed_by: ada.email, assigned_by: ada.email });
  });

  test('is found by its new assignee, and no longer by the one that its workflow names', async () => {
    const ref = await createTask('ada@acme.example.com');
    const found = async (assignee: string) =>
      (await call(pending, as(tenant.owner), { assignee, workflow_id: ref.id })).tasks.length;
    expect([await found(ada.email), await found(bob.email)]).toEqual([1, 0]);
    await assignTo(ref, [bob.email], ada);
    expect([await found(ada.email), await found(bob.email)]).toEqual([0, 1]);
  });

  test('can be taken by a person that its workflow names, who may return it to all of them', async () => {
    const ref = await createTask('ada@acme.example.com', 'tenant_admin');
    await assignTo(ref, [bob.email], ada);
    expect(await codeOf(approve(ref, ada))).toEqual([403, 'not_assignee']);
    expect(await assignTo(ref, null, ada)).toMatchObject({
      assignees: ['ada@acme.example.com', 'tenant_admin'],
      assigned_by: null,
      assigned_at: null,
    });
    expect(await codeOf(approve(ref, bob))).toEqual([403, 'not_assignee']);
    await approve(ref, ada);
  });

  test('is not assigned by others, except by a tenant_admin', async () => {
    const ref = await createTask('ada@acme.example.com');
    expect(await codeOf(assignTo(ref, [bob.email], bob))).toEqual([403, 'not_assignee']);
    await assignTo(ref, ['project_contributor'], tenant.owner);
    await approve(ref, bob);
  });

  test('that is no longer pending is 409, and one that was never created is 404', async () => {
    const ref = await createTask();
    expect(await codeOf(assignTo({ ...ref, task_id: 'other' }, [ada.email], ada))).toEqual([404, 'not_found']);
    await approve(ref, bob);
    expect(await codeOf(assignTo(ref, [ada.email], ada))).toEqual([409, 'task_already_completed']);
    const stopped = await createTask();
    await call(command, as(bob), { id: stopped.id, command: 'stop', params: { run_id: stopped.runID } });
    expect(await codeOf(assignTo(stopped, [ada.email], ada))).toEqual([409, 'task_not_pending']);
  });

  test('of another tenant, project or workflow is 404', async () => {
    const ref = await createTask();
    const elsewhere = await publishGraph(service.services, tenant.owner, asking());
    expect((await refusal(assignTo(ref, null, other.owner))).status).toBe(404);
    expect((await refusal(assignTo(ref, null, project.contributor))).status).toBe(404);
    expect((await refusal(assignTo({ ...ref, id: elsewhere }, null, ada))).status).toBe(404);
  });
});

test('a task is assigned only to people who may answer tasks of the project', async () => {
  const ref = await createTask();
  const strangers = ['nobody@acme.example.com', tenant.viewer.email, other.owner.email, project.contributor.email];
  for (const who of [...strangers, 'project_viewer', 'ada']) {
    const error = await refusal(assignTo(ref, [ada.email, who], ada));
    expect([error.status, error.details], who).toEqual([
      422,
      [{ path: 'assignees', message: `${who} cannot answer tasks of this project` }],
    ]);
  }
  for (const assignees of [[], [''], ['x'.repeat(321)], 'ada@acme.example.com', undefined])
    expect((await refusal(assignTo(ref, assignees, ada))).status, JSON.stringify(assignees)).toBe(422);
  const many = (count: number) => Array.from({ length: count }, () => ada.email);
  expect((await refusal(assignTo(ref, many(21), ada))).status).toBe(422);
  expect(await assignTo(ref, many(20), ada)).toMatchObject({ assignees: [ada.email] });
  expect(await assignTo(ref, [tenant.owner.email, 'tenant_admin'], ada)).toMatchObject({
    assignees: [tenant.owner.email, 'tenant_admin'],
  });
});
