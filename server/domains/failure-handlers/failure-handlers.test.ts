import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Principal } from '../../operation/context.ts';
import type { Services } from '../../operation/services.ts';
import type { Graph, JsonMap } from '../../orchestrator/core/index.ts';
import { shardOf } from '../../orchestrator/shards/slot.ts';
import { HOUR_MS, ManualClock, MINUTE_MS } from '../../platform/clock.ts';
import { newId } from '../../platform/ids.ts';
import { withLineage } from '../../platform/lineage.ts';
import { createCall } from '../../testing/call.ts';
import { repeatEnd, whileHeld } from '../../testing/held-numbers.ts';
import { createTestTenant, type TestTenant, withScopes } from '../../testing/identity.ts';
import { asking, publishGraph, type RunningService, reached, startTestService } from '../../testing/runs.ts';
import { runOperations } from '../runs/operations.ts';
import { startRun } from '../runs/start/start.ts';
import { handlerRunId } from '../runs/triggers/handler-run.ts';
import { enqueueNext } from './enqueue.ts';
import { startDueHandlers } from './start-due.ts';

type Ref = { id: string; runID: string };
type Failed = { id: string; started_at: Date; ended_at: Date; handler: string };

let running: RunningService;
let services: Services;
let clock: ManualClock;
let acme: TestTenant;
let call: ReturnType<typeof createCall<typeof runOperations>>;

async function startService(settings: Record<string, string> = {}): Promise<void> {
  running = await startTestService({ BATON_URL: 'https://baton.example.com', ...settings });
  clock = new ManualClock(Date.now());
  services = { ...running.services, clock };
  acme = await createTestTenant(services, { slug: 'acme' });
  call = createCall(services, runOperations);
}
afterEach(() => running.close());

const lua = (script: string): Graph['steps'] => [{ id: 'only', type: 'lua_script', script }];
const publish = (graph: Graph) => publishGraph(services, acme.owner, graph);
const failingWith = (workflow_id: string) => publish({ steps: lua('error("no")'), on_failure: { workflow_id } });

async function start(id: string, as: Principal = acme.owner): Promise<Ref> {
  const { run_id: runID } = (await call(as, 'workflows_execute_command', { id, command: 'start' })) as {
    run_id: string;
  };
  return { id, runID };
}
async function run(id: string, as?: Principal): Promise<Ref> {
  const ref = await start(id, as);
  await reached(services, acme.owner, ref);
  return ref;
}
/** Does the work of one pass of the job. Returns how many starts were attempted. */
async function runPass(): Promise<number> {
  while (await enqueueNext(services));
  return startDueHandlers(services);
}
/** Returns the failed run with the id of the run that handles it. */
async function failedRun({ runID }: Ref): Promise<Failed> {
  const { rows } = await running.db.pool.query<Omit<Failed, 'handler'>>('SELECT * FROM runs WHERE id = $1', [runID]);
  const [row] = rows;
  if (row === undefined) throw new Error('there is no such run');
  return { ...row, handler: handlerRunId({ runId: row.id, endedAt: row.ended_at }) };
}
const runsOf = async (workflow: string) =>
  (
    await running.db.pool.query<{ id: string; trigger_type: string; started_by: string }>(
      'SELECT id, trigger_type, started_by FROM runs WHERE workflow_id = $1 ORDER BY id',
      [workflow],
    )
  ).rows;
/** Returns the links in the snapshot of a run: to the run of its failure handler, and to the run that it handles. */
async function linksOf(ref: Ref): Promise<unknown[]> {
  const { failure_handler, failed_run } = (await call(acme.viewer, 'runs_get_snapshot', ref)) as Record<
    string,
    unknown
  >;
  return [failure_handler, failed_run];
}
const attempts = async () => (await running.db.pool.query('SELECT attempts FROM failure_handlers')).rows;
const rejections = async () =>
  (await running.db.pool.query('SELECT run_id, workflow_id, code FROM run_rejections ORDER BY run_id')).rows;

describe('on_failure', () => {
  beforeEach(() => startService());

  test('starts the workflow with the summary of the failed run', async () => {
    const handler = await publish({ steps: lua('return input.failed_run.error.code') });
    const workflow = await failingWith(handler.toUpperCase());
    const ref = await run(workflow);
    await run(await publish({ steps: lua('return 1'), on_failure: { workflow_id: handler } }));
    expect(await runPass()).toBe(1);
    const failed = await failedRun(ref);
    await reached(services, acme.owner, { id: handler, runID: failed.handler });
    expect(await runsOf(handler)).toEqual([
      { id: failed.handler, trigger_type: 'on_failure', started_by: acme.owner.email },
    ]);
    const ran = { id: handler, runID: failed.handler };
    expect(await linksOf(ref)).toEqual([{ run_id: failed.handler, workflow_id: handler }, null]);
    expect(await linksOf(ran)).toEqual([null, { run_id: ref.runID, workflow_id: workflow }]);
    const { rows } = await running.db.pool.query<{ data: { input: JsonMap } }>(
      `SELECT data FROM run_events WHERE run_id = $1 AND event_type = 'run_started'`,
      [failed.handler],
    );
    expect(rows[0]?.data.input).toEqual({
      failed_run: {
        run_id: ref.runID,
        workflow_id: workflow,
        workflow_name: 'Under test',
        version: 1,
        error: { code: 'lua_error', message: expect.stringContaining('no'), step_id: 'only' },
        started_at: failed.started_at.toISOString(),
        ended_at: failed.ended_at.toISOString(),
        trigger_type: 'manual',
        url: `https://baton.example.com/workflows/${workflow}/runs/${ref.runID}?tenant=acme&project=${acme.projectId}`,
      },
    });
    expect(await runPass()).toBe(0);
  });

  test('starts once for each failed run, even if rows with later numbers are committed first', async () => {
    const handler = await publish({ steps: lua('return 1') });
    const workflow = await failingWith(handler);
    const [held, later] = [await run(workflow), await run(workflow)];
    const { pool } = running.db;
    await pool.query('UPDATE failure_handler_progress SET usage_seq = (SELECT max(seq) FROM run_usage)');
    await whileHeld(
      pool,
      client => repeatEnd(client, held.runID),
      async () => {
        await repeatEnd(pool, later.runID);
        while (await enqueueNext(services));
      },
    );
    expect(await runPass()).toBe(2);
    const handlers = [(await failedRun(held)).handler, (await failedRun(later)).handler];
    expect((await runsOf(handler)).map(({ id }) => id).sort()).toEqual(handlers.sort());
    expect(await runPass()).toBe(0);
  });

  test('starts in the workspaces of the shards that are led, and in no others', async () => {
    const handler = await publish({ steps: lua('return 1') });
    await run(await failingWith(handler));
    while (await enqueueNext(services));
    const ownShard = shardOf(acme.tenantId, 4);
    const others = new Set([0, 1, 2, 3].filter(shard => shard !== ownShard));
    expect(await startDueHandlers(services, { count: 4, led: others })).toBe(0);
    expect(await startDueHandlers(services, { count: 4, led: new Set([ownShard]) })).toBe(1);
    expect(await runsOf(handler)).toHaveLength(1);
  });

  test('is beneath the run that failed', async () => {
    const handler = await publish({ steps: lua('return 1') });
    const workflow = await failingWith(handler);
    const { tenantId, projectId } = acme;
    const lineage = { tenantId, root: newId(), depth: 2 };
    const request = { tenantId, projectId, workflowId: workflow, params: {}, defaultTriggerType: 'manual' };
    const nested = await withLineage(lineage, () => startRun(services, { ...request, startedBy: 'ann', carried: [] }));
    const below = { id: workflow, runID: nested.runId };
    await reached(services, acme.owner, below);
    const top = await run(workflow);
    expect(await runPass()).toBe(2);
    const beneathOf = async (ref: Ref) => {
      const text = `SELECT data->'beneath' AS beneath FROM run_events WHERE run_id = $1 AND seq = 1`;
      return (await running.db.pool.query(text, [(await failedRun(ref)).handler])).rows[0]?.beneath;
    };
    expect(await beneathOf(top)).toEqual({ root_run_id: top.runID, depth: 1 });
    expect(await beneathOf(below)).toEqual({ root_run_id: lineage.root, depth: 4 });
  });

  test('starts the workflow once even if a process died before it recorded the start', async () => {
    const handler = await publish({ steps: lua('return 1') });
    await run(await failingWith(handler));
    await run(await failingWith(handler));
    // The process dies after the failures were recorded and before a handler started.
    await enqueueNext(services);
    expect(await attempts()).toHaveLength(2);
    expect(await startDueHandlers(services)).toBe(2);
    const started = await runsOf(handler);
    expect(started).toHaveLength(2);
    // Simulates that the starts were committed, but nothing after them.
    await running.db.pool.query('UPDATE failure_handler_progress SET usage_seq = 0');
    expect(await runPass()).toBe(2);
    expect(await runsOf(handler)).toEqual(started);
    expect(await attempts()).toEqual([]);
  });

  test('starts no workflow of another tenant, and none whose id is malformed', async () => {
    const globex = await createTestTenant(services, { slug: 'globex' });
    const foreign = await publishGraph(services, globex.owner, { steps: lua('return 1') });
    await run(await failingWith(foreign));
    await run(await failingWith('x'));
    expect(await runPass()).toBe(1);
    expect(await runsOf(foreign)).toEqual([]);
    expect(await attempts()).toEqual([]);
  });

  test('records a refused start, and does not repeat it', async () => {
    const handler = await publish({ steps: lua('return 1') });
    const failed = await failedRun(await run(await failingWith(handler)));
    await running.db.pool.query(`UPDATE workflows SET status = 'archived' WHERE id = $1`, [handler]);
    expect(await runPass()).toBe(1);
    expect(await rejections()).toEqual([{ run_id: failed.handler, workflow_id: handler, code: 'workflow_archived' }]);
    expect(await attempts()).toEqual([]);
  });

  test('creates no link to a run that only claims to handle a failure', async () => {
    const handler = await publish({ steps: lua('return 1') });
    const failed = await run(await failingWith(handler));
    expect(await linksOf(failed)).toEqual([null, null]);
    const linksOfClaim = async (run_id: unknown) => {
      const params = { trigger_type: 'on_failure', trigger_payload: { failed_run: { run_id } } };
      const started = await call(acme.owner, 'workflows_execute_command', { id: handler, command: 'start', params });
      return linksOf({ id: handler, runID: (started as { run_id: string }).run_id });
    };
    expect(await linksOfClaim(failed.runID)).toEqual([null, null]);
    expect(await linksOfClaim('x')).toEqual([null, null]);
    expect(await linksOfClaim({})).toEqual([null, null]);
  });

  test('starts nothing when a handler fails, or a run that a handler called', async () => {
    const last = await publish({ steps: lua('return 1') });
    const handler = await failingWith(last);
    const failed = await failedRun(await run(await failingWith(handler)));
    expect(await runPass()).toBe(1);
    await reached(services, acme.owner, { id: handler, runID: failed.handler });
    const called = await run(handler);
    await running.db.pool.query(`INSERT INTO child_runs VALUES ($1, $2, $3, 'call', false)`, [
      called.runID,
      failed.handler,
      handler,
    ]);
    expect(await runPass()).toBe(0);
    expect(await runsOf(last)).toEqual([]);
  });

  test('starts no steps that the token of the failed run may not start', async () => {
    const request = { id: 'ask', type: 'http_request', url: 'https://example.com', disabled: true };
    const handler = await publish({ steps: [...lua('return 1'), request] });
    const workflow = await failingWith(handler);
    await run(workflow, withScopes(acme.contributor, 'workflow:run'));
    expect(await runPass()).toBe(1);
    expect(await runsOf(handler)).toEqual([]);
    await run(workflow, withScopes(acme.contributor, 'workflow:run', 'mcp:execute'));
    expect(await runPass()).toBe(1);
    expect(await runsOf(handler)).toHaveLength(1);
  });
});

describe('a start that is refused for a passing reason', () => {
  let handler: string;
  let failed: Failed;
  let holding: Ref;
  beforeEach(async () => {
    await startService({ BATON_MAX_ACTIVE_RUNS_PER_TENANT: '1' });
    handler = await publish({ steps: lua('return 1') });
    failed = await failedRun(await run(await failingWith(handler)));
    holding = await start(await publish(asking()));
    expect(await runPass()).toBe(1);
    expect(await attempts()).toEqual([{ attempts: 1 }]);
    expect(await runPass()).toBe(0);
  });

  test('is repeated later', async () => {
    await call(acme.owner, 'workflows_execute_command', {
      id: holding.id,
      command: 'stop',
      params: { run_id: holding.runID },
    });
    await reached(services, acme.owner, holding);
    clock.advance(MINUTE_MS);
    expect(await runPass()).toBe(1);
    expect((await runsOf(handler)).map(({ id }) => id)).toEqual([failed.handler]);
    expect(await attempts()).toEqual([]);
  });

  test('is given up after an hour', async () => {
    let retries = 0;
    while ((await attempts()).length > 0) {
      clock.advance(HOUR_MS);
      retries += await runPass();
    }
    expect(retries).toBe(5);
    expect(await runsOf(handler)).toEqual([]);
    expect(await rejections()).toEqual([
      { run_id: failed.handler, workflow_id: handler, code: 'too_many_active_runs' },
    ]);
  });
});
