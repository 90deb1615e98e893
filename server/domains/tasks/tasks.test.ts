import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Principal } from '../../operation/context.ts';
import { createTestMember, createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { operationsByName } from '../../testing/operations.ts';
import { asking, publishGraph, type RunningService, reached, startTestService } from '../../testing/runs.ts';
import { call, contextFor, createTestProject, refusal } from '../../testing/workflows.ts';
import { runOperations } from '../runs/operations.ts';
import { mayAnswer } from './complete.ts';
import { taskOperations } from './operations.ts';

const {
  workflows_execute_command: command,
  runs_list_events: events,
  runs_get_context: context,
} = operationsByName(runOperations);
const {
  tasks_list_pending: inbox,
  tasks_list_pending_run: pending,
  tasks_list_run: all,
  tasks_complete: complete,
} = operationsByName(taskOperations);

let service: RunningService;
let tenant: TestTenant;
let other: TestTenant;
let project: Awaited<ReturnType<typeof createTestProject>>;
let colleague: Principal;

beforeAll(async () => {
  service = await startTestService();
  tenant = await createTestTenant(service.services, { slug: 'acme' });
  other = await createTestTenant(service.services, { slug: 'rival' });
  project = await createTestProject(service.services, tenant, 'second');
  colleague = await createTestMember(service.services, tenant, 'project_contributor', 'colleague@acme.example.com');
});
afterAll(() => service.close());

const as = (principal = tenant.contributor) => contextFor(service.services, principal);

/** Starts a run that waits at the step `ask`. */
async function createTask(step: Record<string, unknown> = {}, owner: Principal = tenant.owner) {
  const id = await publishGraph(service.services, owner, asking(step));
  return createTaskAgain(id, owner);
}
async function createTaskAgain(id: string, owner: Principal = tenant.owner) {
  const { run_id } = await call(command, as(owner), { id, command: 'start', params: { who: 'Ada' } });
  const ref = { id, runID: run_id };
  await reached(service.services, owner, ref, 'blocked');
  return ref;
}
const answer = (ref: { id: string; runID: string }, body: Record<string, unknown>, principal = tenant.contributor) =>
  call(complete, as(principal), { ...ref, task_id: 'ask', ...body });

const form = {
  type: 'object',
  properties: { cost_centre: { type: 'string', enum: ['a', 'b'] }, comment: { type: 'string', maxLength: 5 } },
  required: ['cost_centre'],
  additionalProperties: false,
};

describe('answering', () => {
  test('continues the run with the answer as the result of the step', async () => {
    const ref = await createTask();
    const answered = await answer(ref, {
      approved: true,
      result: { note: 'fine', approved: false, completed_by: 'me' },
    });
    expect(answered).toEqual({ status: 'completed', task_id: 'ask', approved: true });
    await reached(service.services, tenant.owner, ref);
    const { steps } = await call(context, as(), ref);
    expect(steps.ask?.result).toEqual({
      note: 'fine',
      approved: true,
      completed_by: tenant.contributor.email,
      completed_at: expect.any(String),
    });
    const { events: log } = await call(events, as(), ref);
    expect(log.find(event => event.event_type === 'task_completed')?.data).toMatchObject({ approved: true });
  });

  test('with a rejection does not fail the run', async () => {
    const ref = await createTask();
    expect(await answer(ref, { approved: false })).toMatchObject({ approved: false });
    await reached(service.services, tenant.owner, ref);
    expect((await call(context, as(), ref)).steps.ask?.result).toMatchObject({ approved: false });
  });

  test('twice is 409, with the person and time of the first answer', async () => {
    const ref = await createTask();
    await answer(ref, { approved: true }, colleague);
    const error = await refusal(answer(ref, { approved: false }));
    expect([error.status, error.code]).toEqual([409, 'task_already_completed']);
    expect(error.message).toMatch(/already answered by colleague@acme\.example\.com at \d{4}-\d\d-\d\dT/);
  });

  test('ten times concurrently accepts one, and refuses the others with 409', async () => {
    const ref = await createTask();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, (_, n) => answer(ref, { approved: n % 2 === 0 })),
    );
    expect(outcomes.filter(outcome => outcome.status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected')
        expect(outcome.reason).toMatchObject({ status: 409, message: expect.stringContaining('already answered by') });
    }
  });

  test('of a stopped run is 409, and a task that was never asked is 404', async () => {
    const ref = await createTask();
    await call(command, as(), { id: ref.id, command: 'stop', params: { run_id: ref.runID } });
    expect((await refusal(answer(ref, { approved: true }))).code).toBe('task_not_pending');
    expect((await refusal(answer(ref, { approved: true, task_id: 'other' }))).status).toBe(404);
  });

  test('requires a decision, and accepts no other field', async () => {
    const ref = await createTask();
    for (const body of [{}, { approved: 'yes' }, { approved: true, comment: 'x' }, { approved: true, result: [1] }]) {
      expect((await refusal(answer(ref, body))).status).toBe(422);
    }
    await answer(ref, { approved: true });
  });
});

describe('a form', () => {
  test('is checked, field by field', async () => {
    const ref = await createTask({ form });
    for (const result of [
      undefined,
      {},
      { cost_centre: 'c' },
      { cost_centre: 'a', comment: 'too long' },
      { cost_centre: 'a', x: 1 },
    ]) {
      const error = await refusal(answer(ref, { approved: true, result }));
      expect(error.status).toBe(422);
      expect(error.details?.length).toBeGreaterThan(0);
    }
    await answer(ref, { approved: true, result: { cost_centre: 'a', comment: 'short' } });
  });

  test('does not apply to a rejection without a result, but to one with a result', async () => {
    const ref = await createTask({ form });
    expect((await refusal(answer(ref, { approved: false, result: { comment: 'no' } }))).status).toBe(422);
    await answer(ref, { approved: false });
  });
});

describe('assignees', () => {
  test('and admins may answer, and nobody else', async () => {
    const ref = await createTask({ assignees: ['Colleague@ACME.example.com'] });
    const error = await refusal(answer(ref, { approved: true }));
    expect([error.status, error.code]).toEqual([403, 'not_assignee']);
    await answer(ref, { approved: true }, colleague);
    const again = await createTask({ assignees: ['nobody@acme.example.com'] });
    await answer(again, { approved: true }, tenant.owner);
  });

  test('run_starter is the person for whom the run acts, and nobody else', async () => {
    const id = await publishGraph(service.services, tenant.owner, asking({ assignees: ['run_starter'] }));
    for (const [starter, another] of [
      [colleague, tenant.contributor],
      [tenant.contributor, colleague],
    ] as const) {
      const ref = await createTaskAgain(id, starter);
      expect((await refusal(answer(ref, { approved: true }, another))).code).toBe('not_assignee');
      await answer(ref, { approved: true }, starter);
    }
  });

  test.each<[string[], Principal['role'], boolean]>([
    [[], 'project_contributor', true],
    [['project_contributor'], 'project_contributor', true],
    [['tenant_admin'], 'project_contributor', false],
    [['tenant_admin'], 'tenant_admin', true],
    [['x@y.z'], 'tenant_admin', true],
    [['x@y.z'], 'project_contributor', false],
    [['ME@y.z'], 'project_contributor', true],
    [['x@y.z', 'project_contributor'], 'project_contributor', true],
  ])('%j with the role %s: %s', (assignees, role, allowed) => {
    expect(mayAnswer({ email: 'me@y.z', role }, assignees)).toBe(allowed);
  });
});

describe('the inbox', () => {
  test('shows pending tasks with rendered texts, and no answered ones', async () => {
    const ref = await createTask({
      name: 'Ask {{input.who}}',
      instructions: '**{{input.who}}** asks',
      form,
      timeout_s: 60,
    });
    const find = async () => (await call(inbox, as(tenant.viewer), { workflow_id: ref.id })).tasks;
    const [task] = await find();
    expect(task).toMatchObject({
      task_id: 'ask',
      run_id: ref.runID,
      workflow_id: ref.id,
      workflow_name: 'Under test',
      name: 'Ask Ada',
      instructions: '**Ada** asks',
      form,
      assignees: [],
    });
    expect(Date.parse(String(task?.due_at)) - Date.parse(String(task?.created_at))).toBeLessThanOrEqual(60_000);
    expect((await call(pending, as(), ref)).tasks).toEqual([task]);
    await answer(ref, { approved: false });
    expect(await find()).toEqual([]);
    expect((await call(pending, as(), ref)).tasks).toEqual([]);
    const [told] = (await call(all, as(tenant.viewer), ref)).tasks;
    expect(told).toMatchObject({ state: 'completed', approved: false, completed_by: tenant.contributor.email });
  });

  test('is read page by page, newest first, while new tasks are created', async () => {
    const id = await publishGraph(service.services, tenant.owner, asking());
    const runs: string[] = [];
    for (let n = 0; n < 7; n++) runs.push((await createTaskAgain(id)).runID);
    const seen: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: { tasks: { run_id: string }[]; next_cursor: string | null } = await call(inbox, as(), {
        workflow_id: id,
        limit: 2,
        ...(cursor === undefined ? {} : { cursor }),
      });
      seen.push(...page.tasks.map(task => task.run_id));
      cursor = page.next_cursor;
      await createTaskAgain(id);
    }
    expect(seen).toEqual(runs.reverse());
  });

  test('shows an admin all projects, a member theirs, another tenant nothing; and filters by assignee', async () => {
    const marker = 'somebody@acme.example.com';
    const here = await createTask({ assignees: [marker, 'tenant_admin'] });
    const there = await createTask({ assignees: [marker] }, { ...tenant.owner, projectId: project.projectId });
    const see = async (principal: Principal, assignee = marker) =>
      (await call(inbox, as(principal), { assignee })).tasks.map(task => task.run_id).sort();
    expect(await see(tenant.owner)).toEqual([here.runID, there.runID].sort());
    expect(await see(tenant.viewer, 'SOMEBODY@acme.example.com')).toEqual([here.runID]);
    expect(await see(project.contributor)).toEqual([there.runID]);
    expect(await see(other.owner)).toEqual([]);
    expect(await see(tenant.owner, 'tenant_admin')).toEqual([here.runID]);
    expect(await see(tenant.owner, 'some')).toEqual([]);
  });

  test('refuses cursors of other lists', async () => {
    for (const key of [[1], [1, 'x', 'ask'], [1, '019b76da-a800-7000-8000-000000000000', "' or true"]]) {
      const cursor = Buffer.from(JSON.stringify(key)).toString('base64url');
      expect((await refusal(call(inbox, as(), { cursor }))).status).toBe(422);
    }
  });
});

describe('another tenant, another project, another workflow', () => {
  test('get 404 from every operation, and the task stays', async () => {
    const ref = await createTask();
    const elsewhere = await publishGraph(service.services, tenant.owner, asking());
    const cases = [
      { principal: other.owner, ref },
      { principal: project.contributor, ref },
      { principal: tenant.contributor, ref: { ...ref, id: elsewhere } },
    ];
    for (const { principal, ref: wrong } of cases) {
      const tries = [
        call(pending, as(principal), wrong),
        call(all, as(principal), wrong),
        answer(wrong, { approved: true }, principal),
      ];
      for (const error of await Promise.all(tries.map(refusal))) expect(error.status).toBe(404);
    }
    expect((await call(pending, as(), ref)).tasks).toHaveLength(1);
  });
});

test('the tasks of a run come in pages, in the order in which they were asked', async () => {
  const names = ['c', 'a', 'b'];
  const graph = { steps: names.map(id => ({ id, type: 'human_task' })) };
  const ref = await createTaskAgain(await publishGraph(service.services, tenant.owner, graph));
  for (const list of [pending, all]) {
    const whole = await call(list, as(), ref);
    expect(whole.tasks.map(task => task.task_id).sort()).toEqual([...names].sort());
    expect(whole.next_cursor).toBeNull();
    const first = await call(list, as(), { ...ref, limit: 2 });
    const second = await call(list, as(), { ...ref, limit: 2, cursor: first.next_cursor ?? '' });
    expect([...first.tasks, ...second.tasks]).toEqual(whole.tasks);
    expect(second.next_cursor).toBeNull();
    expect((await call(list, as(), { ...ref, task_id: 'b' })).tasks.map(task => task.task_id)).toEqual(['b']);
    expect((await refusal(call(list, as(), { ...ref, cursor: 'x' }))).status).toBe(422);
  }
});
