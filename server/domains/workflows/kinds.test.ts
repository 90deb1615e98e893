import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '../../operation/context.ts';
import { WORKFLOW_KINDS, type WorkflowKind } from '../../operation/workflow-kinds.ts';
import { newId } from '../../platform/ids.ts';
import { createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { operationsByName } from '../../testing/operations.ts';
import { asking, type RunningService, reached, startTestService } from '../../testing/runs.ts';
import { call, contextFor, createTestProject, insertRun, refusal } from '../../testing/workflows.ts';
import { aggregateAll } from '../analytics/aggregate.ts';
import { analyticsOperations } from '../analytics/operations.ts';
import { runOperations } from '../runs/operations.ts';
import { taskOperations } from '../tasks/operations.ts';
import { workflowOperations } from './operations.ts';
import { insertWorkflow } from './store.ts';
import { insertVersion } from './versions/queries.ts';

const workflows = operationsByName(workflowOperations);
const runs = operationsByName(runOperations);
const tasks = operationsByName(taskOperations);
const analytics = operationsByName(analyticsOperations);

let service: RunningService;
let tenant: TestTenant;
let ctx: Context;
let ids: Record<WorkflowKind, string>;

async function publishKind(kind: WorkflowKind, projectId = tenant.projectId): Promise<string> {
  const { services } = service;
  const scope = { tenantId: tenant.tenantId, projectId };
  const at = new Date(services.clock.now());
  const by = tenant.owner.userId;
  const made = { name: `A ${kind}`, description: '', graph: asking(), runSetup: {}, graphChecksum: '', createdBy: by };
  const { id } = await insertWorkflow(services.prisma, { id: newId(), scope, ...made, kind, at });
  await insertVersion(services.pool, { ...scope, id, revision: 1 }, { changelog: '', by, at });
  return id;
}

async function startRun(id: string): Promise<string> {
  const { run_id } = await call(runs.workflows_execute_command, ctx, { id, command: 'start', params: {} });
  await reached(service.services, tenant.owner, { id, runID: run_id }, 'blocked');
  return run_id;
}

beforeAll(async () => {
  service = await startTestService();
  tenant = await createTestTenant(service.services, { slug: 'acme' });
  ctx = contextFor(service.services, tenant.owner);
  const made = await Promise.all(WORKFLOW_KINDS.map(async kind => [kind, await publishKind(kind)] as const));
  ids = Object.fromEntries(made) as typeof ids;
});
afterAll(() => service.close());

describe('lists', () => {
  test.each(WORKFLOW_KINDS)('of workflows show the kind %s if the request names it', async kind => {
    const listed = await call(workflows.workflows_list, ctx, { kind });
    expect(listed.workflows.map(({ id, kind }) => ({ id, kind }))).toEqual([{ id: ids[kind], kind }]);
    const searched = await call(workflows.workflows_list, ctx, { kind, q: 'A ' });
    expect(searched.workflows).toHaveLength(1);
  });

  test('of workflows show only those that people edit if the request names no kind', async () => {
    for (const input of [{}, { q: 'A ' }, { q: ids.agent }, { status: 'published' }]) {
      const { workflows: found } = await call(workflows.workflows_list, ctx, input);
      expect(found.filter(({ kind }) => kind !== 'workflow')).toEqual([]);
    }
  });

  test('refuse an unknown kind', async () => {
    expect(await refusal(call(workflows.workflows_list, ctx, { kind: 'robot' }))).toMatchObject({ status: 422 });
    expect(await refusal(call(runs.runs_list_tenant, ctx, { kind: 'robot' }))).toMatchObject({ status: 422 });
  });
});

describe('the feed of runs', () => {
  const listedIds = async (input: Record<string, unknown>) =>
    (await call(runs.runs_list_tenant, ctx, input)).runs.map(run => run.run_id).sort();

  test('shows runs of the requested kind, in all projects, and of any kind by workflow', async () => {
    const { projectId } = await createTestProject(service.services, tenant, 'second');
    const elsewhere = await publishKind('agent', projectId);
    const scope = { tenantId: tenant.tenantId, projectId: tenant.projectId };
    const insert = (workflowId: string, more: object = {}) =>
      insertRun(service.services, { ...scope, workflowId, ...more });
    const ofWorkflow = await insert(ids.workflow, { sessionId: 'shared' });
    const ofAgent = await insert(ids.agent, { sessionId: 'shared' });
    const ofOther = await insert(elsewhere, { projectId, sessionId: 'shared' });
    const ofTrial = await insert(ids.trial, { sessionId: 'shared' });
    expect(await listedIds({})).toEqual([ofWorkflow]);
    expect(await listedIds({ q: 'shared' })).toEqual([ofWorkflow]);
    expect(await listedIds({ q: 'A ' })).toEqual([ofWorkflow]);
    expect(await listedIds({ kind: 'agent' })).toEqual([ofAgent, ofOther].sort());
    expect(await listedIds({ kind: 'agent', q: 'shared' })).toEqual([ofAgent, ofOther].sort());
    expect(await listedIds({ kind: 'trial' })).toEqual([ofTrial]);
    expect(await listedIds({ kind: 'autopilot' })).toEqual([]);
    expect(await listedIds({ workflow_id: ids.agent })).toEqual([ofAgent]);
    const one = await call(runs.runs_list_tenant, ctx, { kind: 'agent', limit: 1 });
    const next = await call(runs.runs_list_tenant, ctx, { kind: 'agent', limit: 1, cursor: one.next_cursor });
    expect([one, next].flatMap(page => page.runs.map(run => run.run_id)).sort()).toEqual([ofAgent, ofOther].sort());
    const own = await call(runs.workflows_list_runs, ctx, { id: ids.agent });
    expect(own.runs.map(run => run.run_id)).toEqual([ofAgent]);
    await service.services.pool.query('DELETE FROM runs');
  });
});

describe('a workflow of another kind', () => {
  test('is started, read, paused, answered and rerun under its own id', async () => {
    const id = ids.agent;
    expect(await call(workflows.workflows_get, ctx, { id })).toMatchObject({ id, kind: 'agent' });
    expect((await call(workflows.workflows_list_versions, ctx, { id })).versions).toHaveLength(1);
    const runID = await startRun(id);
    const ref = { id, runID };
    expect(await call(runs.runs_get_summary, ctx, ref)).toMatchObject({
      run_id: runID,
      orchestration_phase: 'blocked',
    });
    expect((await call(runs.runs_list_events, ctx, ref)).events.length).toBeGreaterThan(0);
    for (const command of ['pause', 'resume'] as const) {
      await call(runs.workflows_execute_command, ctx, { id, command, params: { run_id: runID } });
    }
    const pending = await call(tasks.tasks_list_pending, ctx, {});
    expect(pending.tasks).toMatchObject([{ run_id: runID, workflow_id: id, workflow_name: 'A agent' }]);
    await call(tasks.tasks_complete, ctx, { ...ref, task_id: 'ask', approved: true });
    await reached(service.services, tenant.owner, ref);
    const again = await call(runs.runs_rerun, ctx, ref);
    await reached(service.services, tenant.owner, { id, runID: again.run_id }, 'blocked');
    await call(runs.workflows_execute_command, ctx, { id, command: 'stop', params: { run_id: again.run_id } });
  });

  test.each(WORKFLOW_KINDS.filter(kind => kind !== 'workflow'))('(%s) is not changed as a workflow', async kind => {
    const id = ids[kind];
    const before = await call(workflows.workflows_get, ctx, { id });
    const changes = [
      () => call(workflows.workflows_patch, ctx, { id, name: 'Mine' }),
      () => call(workflows.workflows_patch, ctx, { id }),
      () => call(workflows.workflows_publish_version, ctx, { id }),
      () => call(workflows.workflows_restore_version, ctx, { id, version: 1 }),
      () => call(workflows.workflows_edit, ctx, { id, edits: [{ type: 'set_details', name: 'Mine' }] }),
      () => call(workflows.workflows_archive, ctx, { id }),
    ];
    for (const change of changes) {
      expect(await refusal(change())).toMatchObject({ status: 409, code: 'managed_elsewhere' });
    }
    expect(await call(workflows.workflows_get, ctx, { id })).toEqual(before);
  });

  test('of another workspace is 404 to every change', async () => {
    const rival = await createTestTenant(service.services, { slug: 'rival' });
    const theirs = contextFor(service.services, rival.owner);
    for (const change of [
      () => call(workflows.workflows_patch, theirs, { id: ids.agent, name: 'Mine' }),
      () => call(workflows.workflows_publish_version, theirs, { id: ids.agent }),
      () => call(workflows.workflows_archive, theirs, { id: ids.agent }),
    ]) {
      expect(await refusal(change())).toMatchObject({ status: 404 });
    }
  });
});

test('analytics count the workflows of one kind, or one workflow of any kind', async () => {
  const agents = await publishKind('agent');
  const runID = await startRun(agents);
  const before = await call(analytics.analytics_live_runs, ctx, {});
  expect(await call(analytics.analytics_live_runs, ctx, { kind: 'agent' })).toMatchObject({ total: 1, blocked: 1 });
  expect(await call(analytics.analytics_live_runs, ctx, { workflow_id: agents })).toMatchObject({ total: 1 });
  expect(before).toMatchObject({ total: 0 });
  await call(tasks.tasks_complete, ctx, { id: agents, runID, task_id: 'ask', approved: true });
  await reached(service.services, tenant.owner, { id: agents, runID });
  await aggregateAll(service.db.pool, service.services.clock);
  const whole = await call(analytics.analytics_runs_count, ctx, {});
  expect(whole).toMatchObject({ started: 0, completed: 0, by_workflow: [], by_trigger: [] });
  const byKind = await call(analytics.analytics_runs_count, ctx, { kind: 'agent' });
  expect(byKind.completed).toBe(2);
  expect(byKind.by_workflow.map(row => row.workflow_id).sort()).toEqual([ids.agent, agents].sort());
  const one = await call(analytics.analytics_execution_duration, ctx, { workflow_id: agents });
  expect(one).toMatchObject({ runs: 1, by_workflow: [{ workflow_id: agents }] });
  expect(await call(analytics.analytics_execution_duration, ctx, {})).toMatchObject({ runs: 0, by_workflow: [] });
  expect(await call(analytics.analytics_execution_duration, ctx, { kind: 'agent' })).toMatchObject({ runs: 2 });
});
