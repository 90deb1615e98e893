import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Graph } from '../orchestrator/core/index.ts';
import { startTestContainer, type TestContainer } from '../testing/container.ts';
import { createTestPat, createTestTenant, type TestTenant } from '../testing/identity.ts';
import { type Samples, scrape } from '../testing/metrics.ts';
import { asking, publishGraph, reached } from '../testing/runs.ts';

let service: TestContainer;
let tenant: TestTenant;
let token: string;
const scrapeToken = 'a-token-of-prometheus';
const authorized = { headers: { Authorization: `Bearer ${scrapeToken}` } };

beforeAll(async () => {
  service = await startTestContainer({ BATON_METRICS_TOKEN: scrapeToken });
  tenant = await createTestTenant(service.container.services, { slug: 'acme' });
  token = (await createTestPat(service.container.services, tenant.owner, ['workflow:run', 'task:complete'])).token;
});
afterAll(() => service.close());

async function post(path: string, body: unknown): Promise<{ run_id: string }> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const response = await fetch(service.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(response.status).toBeLessThan(300);
  return response.status === 204 ? { run_id: '' } : ((await response.json()) as { run_id: string });
}

const publish = (graph: Graph) => publishGraph(service.container.services, tenant.owner, graph);
async function start(id: string): Promise<{ id: string; runID: string }> {
  const { run_id } = await post(`/v1/workflows/${id}/command`, { command: 'start' });
  return { id, runID: run_id };
}
const until = (ref: { id: string; runID: string }, ...phases: ('blocked' | 'complete')[]) =>
  reached(service.container.services, tenant.owner, ref, ...phases);
const metrics = (): Promise<Samples> => scrape(`${service.url}/metrics`, authorized);

test('runs and steps are counted exactly: three runs, six steps, a failure, a skip and an answer', async () => {
  const two: Graph = {
    steps: [
      { id: 'a', type: 'condition', expression: 'true' },
      { id: 'b', type: 'condition', expression: '1 < 2', depends_on: ['a'] },
    ],
  };
  const failing: Graph = {
    steps: [
      { id: 'a', type: 'condition', expression: 'false', mode: 'validate', retry_count: 0 },
      { id: 'b', type: 'lua_script', script: 'return 1', depends_on: ['a'] },
    ],
  };
  const asks: Graph = {
    steps: [...asking().steps, { id: 'off', type: 'condition', expression: 'true', disabled: true }],
  };
  const [chain, bad, human] = await Promise.all([publish(two), publish(failing), publish(asks)]);
  await until(await start(chain));
  await until(await start(bad));
  const asked = await start(human);
  await until(asked, 'blocked');

  expect((await metrics()).get('baton_runs_active{status="running"}')).toBe(1);
  // The run waits only for a person, so it leaves memory, just after its viewers got the event.
  await expect.poll(async () => (await metrics()).get('baton_runs_in_memory')).toBe(0);
  await post(`/v1/workflows/${human}/command`, { command: 'pause', params: { run_id: asked.runID } });
  expect((await metrics()).get('baton_runs_active{status="paused"}')).toBe(1);
  await post(`/v1/workflows/${human}/command`, { command: 'resume', params: { run_id: asked.runID } });
  await post(`/v1/workflows/${human}/runs/${asked.runID}/tasks/ask/complete`, { approved: true });
  await until(asked);

  const after = await metrics();
  const expected: Record<string, number> = {
    baton_runs_started_total: 3,
    'baton_runs_ended_total{status="completed"}': 2,
    'baton_runs_ended_total{status="failed"}': 1,
    'baton_runs_ended_total{status="stopped"}': 0,
    'baton_runs_active{status="running"}': 0,
    'baton_runs_active{status="paused"}': 0,
    'baton_run_duration_seconds_count{status="completed"}': 2,
    'baton_step_attempts_total{type="condition"}': 3,
    'baton_step_attempts_total{type="human_task"}': 1,
    'baton_steps_ended_total{type="condition",outcome="completed"}': 2,
    'baton_steps_ended_total{type="condition",outcome="failed"}': 1,
    'baton_steps_ended_total{type="condition",outcome="skipped"}': 1,
    'baton_steps_ended_total{type="lua_script",outcome="skipped"}': 1,
    'baton_steps_ended_total{type="human_task",outcome="completed"}': 1,
    'baton_step_execution_seconds_count{type="condition",outcome="completed"}': 2,
    'baton_step_execution_seconds_count{type="condition",outcome="failed"}': 1,
    'baton_step_execution_seconds_count{type="human_task",outcome="waiting"}': 1,
    'baton_step_slot_wait_seconds_count{type="condition"}': 3,
    baton_tasks_asked_total: 1,
    'baton_tasks_answered_total{by="person"}': 1,
    'baton_log_appends_refused_total{kind="fenced"}': 0,
    baton_orchestrator_takeovers_total: 1,
    'baton_orchestrator_status{status="leading"}': 1,
    'baton_orchestrator_status{status="standby"}': 0,
    baton_orchestrator_leading: 1,
    baton_recovery_running: 0,
    baton_steps_in_flight: 0,
    baton_steps_waiting: 0,
    baton_steps_waiting_for_memory: 0,
    baton_log_backlog_rows: 0,
    'baton_http_requests_total{operation="workflows_execute_command",status="200"}': 5,
  };
  expect(Object.fromEntries(Object.keys(expected).map(name => [name, after.get(name)]))).toEqual(expected);
});

test('as many events are committed as the log has rows, and no more commits than entries', async () => {
  const samples = await metrics();
  const { rows } = await service.db.pool.query('SELECT count(*)::int AS count FROM run_events');
  expect(samples.get('baton_log_commit_rows_sum')).toBe(rows[0].count);
  expect(samples.get('baton_log_commit_rows_count')).toBe(samples.get('baton_log_commit_duration_seconds_count'));
  expect(samples.get('baton_log_commit_entries_sum')).toBeGreaterThanOrEqual(
    samples.get('baton_log_commit_entries_count') ?? Number.NaN,
  );
  expect(samples.get('baton_log_commit_rows_bucket{le="+Inf"}')).toBe(samples.get('baton_log_commit_rows_count'));
});

test('names the build, the pool and the event loop, and no run, user or workflow in a label', async () => {
  const text = await (await fetch(`${service.url}/metrics`, authorized)).text();
  expect(text).toMatch(/^baton_build_info\{version="\d+\.\d+\.\d+",node="v24\.[\d.]+"\} 1$/m);
  expect(text).toMatch(/^baton_database_connections\{state="idle"\} \d+$/m);
  expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds [\d.e-]+$/m);
  expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-7/);
  expect(text).not.toContain('@');
});
