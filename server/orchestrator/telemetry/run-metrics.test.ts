import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ManualClock } from '../../platform/clock.ts';
import {
  createHarness,
  DEFAULT_CONFIG,
  Gate,
  type Harness,
  type HarnessOptions,
  ManualTime,
  stepType,
} from '../../testing/engine/runtime.ts';
import { parseSamples, type Samples } from '../../testing/metrics.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import type { Graph } from '../core/index.ts';
import { DEFAULT_LIMITS, GroupCommitLog, type LogEntry } from '../log/index.ts';
import type { OrchestratorLoad } from '../ports/observer.ts';
import { createRunMetrics, loadMetrics } from './index.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());
const open: Harness[] = [];
afterEach(async () => {
  for (const harness of open.splice(0)) await harness.orchestrator.close();
});

const scriptless = { waiting: 0, workers: 0 };

/** Creates an orchestrator with metrics; `read` scrapes them. */
async function measured(options: HarnessOptions = {}): Promise<{ harness: Harness; read: () => Promise<Samples> }> {
  const registry = new Registry();
  const harness = await createHarness(db, { ...options, observer: createRunMetrics(registry) });
  loadMetrics(registry, { load: () => harness.orchestrator.load(), lua: scriptless });
  open.push(harness);
  return { harness, read: async () => parseSamples(await registry.metrics()) };
}

const two: Graph = {
  steps: [
    { id: 'a', type: 'gate' },
    { id: 'b', type: 'gate' },
  ],
};
const done = { kind: 'completed', result: null } as const;

test('the wait for a slot is measured from when a step could begin, and its execution from when it began', async () => {
  const clock = new ManualClock();
  const gate = new Gate();
  const { harness, read } = await measured({
    clock,
    types: [gate.type],
    config: { ...DEFAULT_CONFIG, maxInFlight: 1 },
  });
  const ref = await harness.start(harness.workflow(two));
  await gate.arrived(1);
  clock.advance(4_000);
  const busy = await read();
  expect(busy.get('baton_steps_in_flight')).toBe(1);
  expect(busy.get('baton_steps_waiting')).toBe(1);
  expect(busy.get('baton_tenant_steps_in_flight{tenant="acme"}')).toBe(1);
  expect(busy.get('baton_runs_in_memory')).toBe(1);
  gate.waiting[0]?.settle(done);
  await gate.arrived(2);
  clock.advance(500);
  gate.waiting[1]?.settle(done);
  await harness.ended(ref);

  const after = await read();
  const wait = (le: string) => after.get(`baton_step_slot_wait_seconds_bucket{type="gate",le="${le}"}`);
  expect(after.get('baton_step_slot_wait_seconds_sum{type="gate"}')).toBe(4);
  expect([wait('0.001'), wait('2.5'), wait('5'), wait('+Inf')]).toEqual([1, 1, 2, 2]);
  expect(after.get('baton_step_execution_seconds_sum{type="gate",outcome="completed"}')).toBe(4.5);
  expect(after.get('baton_run_duration_seconds_sum{status="completed"}')).toBe(4.5);
  expect([...after.keys()].filter(name => name.startsWith('baton_tenant'))).toEqual([]);
});

test('retries, timeouts and cancellations are counted separately', async () => {
  const time = new ManualTime();
  const gate = new Gate('gate', 60);
  const fails = stepType('fails', async ({ attempt }) =>
    attempt === 1 ? { kind: 'failed', error: { code: 'x', message: 'x' }, retryable: true } : done,
  );
  const { harness, read } = await measured({ clock: time.clock, alarm: time.alarm, types: [gate.type, fails] });
  const slow = await harness.start(harness.workflow({ steps: [{ id: 'a', type: 'gate' }] }));
  await gate.arrived(1);
  time.advance(60_000);
  await harness.ended(slow);
  const stopped = await harness.start(harness.workflow({ steps: [{ id: 'a', type: 'gate' }] }));
  await gate.arrived(2);
  await harness.orchestrator.command(stopped, { type: 'stop', mode: 'immediate', by: 'ann' });
  const retried = await harness.start(harness.workflow({ steps: [{ id: 'a', type: 'fails', retry_count: 1 }] }));
  await harness.until(retried, event => event.type === 'step_retrying');
  time.advance(60_000);
  await harness.ended(retried);

  const after = await read();
  expect(after.get('baton_step_execution_seconds_count{type="gate",outcome="timed_out"}')).toBe(1);
  expect(after.get('baton_step_execution_seconds_count{type="gate",outcome="cancelled"}')).toBe(1);
  expect(after.get('baton_step_retries_total{type="fails"}')).toBe(1);
  expect(after.get('baton_step_attempts_total{type="fails"}')).toBe(2);
  expect(after.get('baton_steps_ended_total{type="gate",outcome="cancelled"}')).toBe(1);
  expect(after.get('baton_steps_ended_total{type="gate",outcome="failed"}')).toBe(1);
  expect(after.get('baton_runs_ended_total{status="stopped"}')).toBe(1);
});

test('a standby counts nothing; when it takes over it knows the runs that have not ended', async () => {
  const gate = new Gate();
  const lock = 77_001;
  const first = await measured({ types: [gate.type], lock });
  const workflow = first.harness.workflow(two);
  await first.harness.start(workflow);
  const paused = await first.harness.start(workflow);
  await first.harness.orchestrator.command(paused, { type: 'pause', by: 'ann' });
  await gate.arrived(4);
  const second = await measured({ types: [gate.type], lock });
  const standby = await second.read();
  expect(standby.get('baton_orchestrator_status{status="standby"}')).toBe(1);
  expect(standby.get('baton_runs_active{status="running"}')).toBe(0);
  expect(standby.get('baton_orchestrator_takeovers_total')).toBe(0);

  const before = await first.read();
  expect(before.get('baton_runs_active{status="running"}')).toBe(1);
  expect(before.get('baton_runs_active{status="paused"}')).toBe(1);
  await first.harness.orchestrator.close();
  await gate.arrived(6);
  await second.harness.orchestrator.recovered;
  const after = await second.read();
  expect(after.get('baton_runs_active{status="running"}')).toBe(1);
  expect(after.get('baton_runs_active{status="paused"}')).toBe(1);
  expect(after.get('baton_orchestrator_takeovers_total')).toBe(1);
  expect(after.get('baton_orchestrator_status{status="leading"}')).toBe(1);
  expect(after.get('baton_recovery_running')).toBe(0);
  expect(after.get('baton_recovery_runs_total')).toBeGreaterThanOrEqual(1);
  // Not counted twice: the previous process started them.
  expect(after.get('baton_runs_started_total')).toBe(0);
});

test('a terminated session counts as a lost leadership', async () => {
  const { harness, read } = await measured({ lock: 77_002 });
  await harness.ended(await harness.start(harness.workflow({ steps: [{ id: 'a', type: 'echo' }] })));
  expect((await read()).get('baton_orchestrator_leads_lost_total')).toBe(0);
  await db.pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE application_name = 'baton-orchestrator' AND datname = current_database()`,
  );
  await expect.poll(async () => (await read()).get('baton_orchestrator_takeovers_total')).toBe(2);
  expect((await read()).get('baton_orchestrator_leads_lost_total')).toBe(1);
});

test('of many tenants the busiest have a series, the others share one', async () => {
  const registry = new Registry();
  const inFlightByTenant = new Map(Array.from({ length: 30 }, (_, n) => [`t${n}`, n + 1]));
  const load: OrchestratorLoad = {
    status: 'leading',
    runsInMemory: 0,
    slotsInUse: 0,
    stepsWaiting: 0,
    stepsWaitingForMemory: 0,
    backlogRows: 0,
    backlogBytes: 0,
    timers: 0,
    memory: { runs: 1, landing_results: 0, loaded_results: 2, cached_results: 3 },
    inFlightByTenant,
  };
  loadMetrics(registry, { load: () => load, lua: scriptless });
  const series = async () =>
    [...parseSamples(await registry.metrics())].filter(([name]) => name.startsWith('baton_tenant_steps'));
  const shown = await series();
  expect(shown).toHaveLength(21);
  expect(shown[0]).toEqual(['baton_tenant_steps_in_flight{tenant="t29"}', 30]);
  expect(shown.at(-1)).toEqual(['baton_tenant_steps_in_flight{tenant="_other"}', 55]);
  inFlightByTenant.clear();
  expect(await series()).toEqual([]);
});

test('a committed batch is counted with its size, and a refused one by its reason', async () => {
  const registry = new Registry();
  const refusing = {
    async commit(batch: readonly LogEntry[]) {
      const bad = batch.find(({ runId }) => runId !== 'good');
      if (bad === undefined) return;
      const fenced = { code: '23505', constraint: 'run_events_pkey' };
      throw Object.assign(new Error(bad.runId), bad.runId === 'fenced' ? fenced : { code: '22P05' });
    },
  };
  const log = new GroupCommitLog(refusing, () => undefined, DEFAULT_LIMITS, createRunMetrics(registry));
  const append = (runId: string) => log.append({ ...entry, runId }).catch(() => undefined);
  await Promise.all(['good', 'bad', 'good', 'fenced'].map(append));
  const samples = parseSamples(await registry.metrics());
  expect(samples.get('baton_log_appends_refused_total{kind="rejected"}')).toBe(1);
  expect(samples.get('baton_log_appends_refused_total{kind="fenced"}')).toBe(1);
  expect(samples.get('baton_log_appends_refused_total{kind="lost"}')).toBe(0);
  expect(samples.get('baton_log_commit_entries_sum')).toBe(2);
  expect(samples.get('baton_log_commit_rows_sum')).toBe(4);
  expect(samples.get('baton_log_commit_duration_seconds_count')).toBe(2);
  // The batch of four, then each half.
  expect(samples.get('baton_log_batches_bisected_total')).toBe(3);
});

const row = { type: 'step_log', step: 'a', attempt: 1, json: '{}', at: 0 } as const;
const entry: LogEntry = {
  runId: '',
  rows: [
    { ...row, seq: 1 },
    { ...row, seq: 2 },
  ],
  payloads: [],
  projection: null,
  tasks: [],
  owner: { tenantId: 'acme', projectId: 'p', workflowId: 'w' },
  startedBy: '',
  usage: [],
};
