import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Services } from '../../../operation/services.ts';
import { newId } from '../../../platform/ids.ts';
import { createTestServices, createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { operationsByName } from '../../../testing/operations.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import { publishGraph } from '../../../testing/runs.ts';
import { call, contextFor, createTestProject, insertRun, refusal } from '../../../testing/workflows.ts';
import { insertWorkflow } from '../../workflows/store.ts';
import { runOperations } from '../operations.ts';

const { workflows_list_runs: ofWorkflow, runs_list_tenant: feed } = operationsByName(runOperations);
const second = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, n));

let db: TestDatabase;
let services: Services;
let tenant: TestTenant;
let other: TestTenant;
let project: Awaited<ReturnType<typeof createTestProject>>;
let workflow: { tenantId: string; projectId: string; workflowId: string };
let elsewhere: typeof workflow;

async function newWorkflow(projectId: string, tenantId = tenant.tenantId): Promise<typeof workflow> {
  const { id } = await insertWorkflow(services.prisma, {
    id: newId(),
    scope: { tenantId, projectId },
    name: 'Nightly',
    description: '',
    graph: { steps: [] },
    runSetup: {},
    graphChecksum: '',
    createdBy: newId(),
    at: second(0),
  });
  return { tenantId, projectId, workflowId: id };
}

beforeAll(async () => {
  db = await createTestDatabase();
  services = createTestServices(db);
  tenant = await createTestTenant(services, { slug: 'acme' });
  other = await createTestTenant(services, { slug: 'rival' });
  project = await createTestProject(services, tenant, 'second');
  workflow = await newWorkflow(tenant.projectId);
  elsewhere = await newWorkflow(project.projectId);
});
afterAll(() => db.close());

/** Reads a feed to its end with pages of `limit`. */
async function walk(ctx: Parameters<typeof call>[1], input: Record<string, unknown>, between?: () => Promise<unknown>) {
  const ids: string[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < 100; pages++) {
    const page = await call(feed, ctx, { ...input, ...(cursor === undefined ? {} : { cursor }) });
    ids.push(...page.runs.map(run => run.run_id));
    if (page.next_cursor === null) return ids;
    cursor = page.next_cursor;
    await between?.();
  }
  throw new Error('The feed has no end.');
}

describe('the feed of the tenant', () => {
  test('contains every run once, newest first, across projects, while new ones start', async () => {
    const made: string[] = [];
    // Several runs share a creation time, so the id must break the tie.
    for (let n = 0; n < 25; n++)
      made.push(await insertRun(services, { ...(n % 3 ? workflow : elsewhere), startedAt: second(n >> 2) }));
    const ids = await walk(contextFor(services, tenant.owner), { limit: 4 }, () =>
      insertRun(services, { ...workflow, startedAt: second(1000) }),
    );
    expect(ids).toEqual(
      [...made]
        .sort()
        .reverse()
        .sort((a, b) => (made.indexOf(b) >> 2) - (made.indexOf(a) >> 2)),
    );
    expect(new Set(ids).size).toBe(25);
  });

  test('shows an admin all projects, a member only theirs, another tenant nothing', async () => {
    const mine = await insertRun(services, { ...workflow, sessionId: 'visibility' });
    const theirs = await insertRun(services, { ...elsewhere, sessionId: 'visibility' });
    const see = async (principal: TestTenant['owner']) =>
      (await call(feed, contextFor(services, principal), { q: 'visibility' })).runs.map(run => run.run_id).sort();
    expect(await see(tenant.owner)).toEqual([mine, theirs].sort());
    expect(await see(tenant.viewer)).toEqual([mine]);
    expect(await see(project.contributor)).toEqual([theirs]);
    expect(await see(other.owner)).toEqual([]);
  });

  test('a run that names a project of another tenant stays invisible to both', async () => {
    const stray = await insertRun(services, { ...workflow, projectId: other.projectId, sessionId: 'stray' });
    for (const principal of [tenant.owner, other.owner]) {
      const { runs } = await call(feed, contextFor(services, principal), { q: 'stray' });
      expect(runs.map(run => run.run_id)).not.toContain(stray);
    }
  });

  test('filters by status, workflow, time and the beginning of id, session and trigger, and the name of the workflow', async () => {
    const w = await newWorkflow(tenant.projectId);
    const timeOf = (n: number) => new Date(Date.UTC(2027, 0, 1, 0, 0, n));
    const a = await insertRun(services, { ...w, status: 'failed', startedAt: timeOf(1), sessionId: 'order-50%_off' });
    const b = await insertRun(services, { ...w, status: 'running', startedAt: timeOf(2), triggerType: 'cron:nightly' });
    const c = await insertRun(services, { ...w, status: 'completed', startedAt: timeOf(3) });
    const ctx = contextFor(services, tenant.viewer);
    const ids = async (input: Record<string, unknown>) =>
      (await call(feed, ctx, { workflow_id: w.workflowId, ...input })).runs.map(run => run.run_id);
    expect(await ids({})).toEqual([c, b, a]);
    expect(await ids({ status: 'failed' })).toEqual([a]);
    expect(await ids({ from: timeOf(2).toISOString() })).toEqual([c, b]);
    expect(await ids({ to: timeOf(2).toISOString() })).toEqual([a]);
    expect(await ids({ from: '2027-01-01T01:00:02+01:00', to: timeOf(3).toISOString() })).toEqual([b]);
    expect(await ids({ q: c })).toEqual([c]);
    expect(await ids({ q: c.toUpperCase() })).toEqual([c]);
    expect(await ids({ q: 'order-50%_' })).toEqual([a]);
    expect(await ids({ q: 'order-5__' })).toEqual([]);
    expect(await ids({ q: 'cron:' })).toEqual([b]);
    expect(await ids({ q: '' })).toEqual([c, b, a]);
    expect(await ids({ q: '\\' })).toEqual([]);
    const [name] = (await call(feed, ctx, { workflow_id: w.workflowId })).runs.map(run => run.workflow_name);
    expect(await ids({ q: name?.slice(1).toUpperCase() })).toEqual([c, b, a]);
    expect(await ids({ q: name?.slice(1), status: 'failed' })).toEqual([a]);
    expect(await ids({ q: `${name} more` })).toEqual([]);
  });
});

describe('the runs of one workflow', () => {
  test('are those of that workflow, with its name and their outcome', async () => {
    const w = await newWorkflow(tenant.projectId);
    const run = await insertRun(services, { ...w, status: 'running' });
    const page = await call(ofWorkflow, contextFor(services, tenant.viewer), { id: w.workflowId });
    expect(page.runs).toHaveLength(1);
    expect(page.runs[0]).toMatchObject({
      run_id: run,
      workflow_name: 'Nightly',
      run_complete: false,
      ended_at: null,
      project_id: w.projectId,
    });
  });

  test('are 404 to another project and another tenant', async () => {
    for (const principal of [project.contributor, other.owner]) {
      const error = await refusal(call(ofWorkflow, contextFor(services, principal), { id: workflow.workflowId }));
      expect(error.status).toBe(404);
    }
  });
});

describe('limits and cursors', () => {
  test('a limit is 1 to 200', async () => {
    const ctx = contextFor(services, tenant.viewer);
    for (const limit of [1, 200]) expect((await call(feed, ctx, { limit })).runs.length).toBeLessThanOrEqual(limit);
    for (const limit of [0, 201, 1.5]) expect((await refusal(call(feed, ctx, { limit }))).status).toBe(422);
  });

  test.each([
    ['not base64 of anything', '???'],
    ['another list', Buffer.from('[3]').toString('base64url')],
    [
      'a time beyond all calendars',
      Buffer.from('[1e300,"019b76da-a800-7000-8000-000000000000"]').toString('base64url'),
    ],
    ['SQL', Buffer.from(`[0,"x'; drop table runs; --"]`).toString('base64url')],
    ['an object', Buffer.from('{"__proto__":1}').toString('base64url')],
  ])('a cursor that is %s is 422', async (_what, cursor) => {
    const error = await refusal(call(feed, contextFor(services, tenant.viewer), { cursor }));
    expect(error.status).toBe(422);
  });

  test('text with a NUL is 422, not a database error', async () => {
    expect((await refusal(call(feed, contextFor(services, tenant.viewer), { q: 'a\0b' }))).status).toBe(422);
  });
});

describe('the name of the step that failed a run', () => {
  const graph = {
    steps: [
      { id: 'pay', type: 'lua_script', name: 'Pay the order' },
      { id: 'plain', type: 'lua_script' },
      { id: 'each', type: 'for_each', name: 'Each order', steps: [{ id: 'pay', type: 'lua_script', name: 'Pay one' }] },
    ],
  };
  const fail = (id: string, step_id: string) =>
    services.pool.query('UPDATE runs SET error = $2 WHERE id = $1', [
      id,
      JSON.stringify({ code: 'lua_error', message: 'no', step_id }),
    ]);

  test('is listed, also for a step in a loop; it is null without a name or a graph', async () => {
    const workflowId = await publishGraph(services, tenant.owner, graph as never);
    const failedStepNames = async () =>
      (await call(feed, contextFor(services, tenant.owner), { workflow_id: workflowId })).runs.map(
        run => run.failed_step_name,
      );
    const start = (n: number, workflow = workflowId) =>
      insertRun(services, { ...tenant, workflowId: workflow, status: 'failed', startedAt: second(n) });
    await fail(await start(1), 'pay');
    await fail(await start(2), 'plain');
    await fail(await start(3), 'each.3.pay');
    await fail(await start(4), 'gone');
    await start(5);
    const names = [null, null, 'Pay one', null, 'Pay the order'];
    expect(await failedStepNames()).toEqual(names);
    // The names come from the cache: a version never changes.
    await services.pool.query('DELETE FROM workflow_versions WHERE workflow_id = $1', [workflowId]);
    expect(await failedStepNames()).toEqual(names);
  });
});
