import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { AppError } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import {
  chain,
  createHarness,
  DEFAULT_CONFIG,
  Gate,
  type Harness,
  type HarnessOptions,
  isEnd,
  ManualTime,
  outline,
  startRun,
} from '../../../testing/engine/runtime.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import type { Graph } from '../../core/index.ts';
import type { CommittedEvent, RunRef } from '../../ports/orchestrator.ts';
import type { EmbeddedOrchestrator } from '../index.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());
const open: Harness[] = [];
async function harness(options: HarnessOptions = {}): Promise<Harness> {
  const made = await createHarness(db, options);
  open.push(made);
  return made;
}
afterEach(async () => {
  for (const h of open.splice(0)) await h.orchestrator.close();
});

const by = 'ann';
const completed = { kind: 'completed', result: null } as const;
const one = (type: string): Graph => ({ steps: [{ id: 'a', type }] });
const until = (orchestrator: EmbeddedOrchestrator, status: string) =>
  expect.poll(orchestrator.status.bind(orchestrator)).toBe(status);
const code = (promise: Promise<unknown>) =>
  promise.then(
    () => 'ok',
    (error: AppError) => `${error.status} ${error.code} ${error.headers?.['Retry-After'] === undefined ? '' : 'retry'}`,
  );
/** Cuts the leader's session from the server's side. */
const cutLeader = () =>
  db.pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'baton-orchestrator'
       AND pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted)`,
  );

/** Checks the rules for every log (docs/specification/runs.md#one-end, docs/specification/runs.md#order). */
function expectSound(events: readonly CommittedEvent[]): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(events.filter(({ event }) => isEnd(event))).toHaveLength(1);
  expect(isEnd(events[events.length - 1]?.event as CommittedEvent['event'])).toBe(true);
  const ends = outline(events).filter(line => /^step_(completed|failed|cancelled) /.test(line));
  expect(ends.length).toBe(new Set(ends.map(line => line.split(' ')[1])).size);
}

test('a second process waits as a standby, refuses commands and takes over when the first ends', async () => {
  const gate = new Gate();
  const first = await harness({ types: [gate.type], config: { ...DEFAULT_CONFIG, shutdownGraceMs: 0 } });
  const second = await harness({ types: [gate.type] });
  expect([first.orchestrator.status(), second.orchestrator.status()]).toEqual(['leading', 'standby']);
  const workflow = first.workflow(chain(2, 'gate'));
  expect(await code(second.start(workflow))).toBe('503 not_leading retry');
  const ref = await first.start(workflow);
  await gate.arrived(1);
  await first.orchestrator.close();
  expect(first.orchestrator.status()).toBe('stopped');
  expect(await code(first.start(workflow))).toBe('503 not_leading retry');
  await until(second.orchestrator, 'leading');
  // The aborted attempt is started again, as a new one.
  await gate.arrived(2);
  expect(gate.waiting[0]?.signal.aborted).toBe(true);
  expect(gate.waiting[1]?.attempt.attempt).toBe(2);
  gate.waiting[1]?.settle(completed);
  await gate.arrived(3);
  gate.waiting[2]?.settle(completed);
  await second.ended(ref);
  expectSound(await second.events(ref));
});

test('a graceful shutdown lets attempts in flight finish and writes their end, but starts nothing', async () => {
  const gate = new Gate();
  const time = new ManualTime();
  const config = { ...DEFAULT_CONFIG, shutdownGraceMs: 10_000 };
  const h = await harness({ types: [gate.type], config, clock: time.clock, alarm: time.alarm });
  const ref = await h.start(h.workflow(chain(2, 'gate')));
  const stuck = await h.start(h.workflow(one('gate')));
  await gate.arrived(2);
  const closing = h.orchestrator.close();
  expect(h.orchestrator.status()).toBe('stopping');
  expect(await code(h.start(h.workflow(chain(1))))).toBe('503 not_leading retry');
  gate.waiting.find(({ attempt }) => attempt.run.id === ref.runId)?.settle(completed);
  await h.until(ref, event => event.type === 'step_completed');
  // The other one does not end: it is aborted after the grace period.
  time.advance(10_000);
  await closing;
  expect(gate.waiting).toHaveLength(2);
  expect(outline(await h.events(ref))).toEqual(['run_started', 'step_started s0', 'step_completed s0']);
  expect(gate.waiting.find(({ attempt }) => attempt.run.id === stuck.runId)?.signal.aborted).toBe(true);
  const next = await harness({ types: [gate.type] });
  await next.orchestrator.recovered;
  await gate.arrived(4);
  for (const { settle } of gate.waiting.slice(2)) settle(completed);
  for (const run of [ref, stuck]) {
    await next.ended(run);
    expectSound(await next.events(run));
  }
});

test('a new leader recovers all runs that had not ended: running, draining, retrying, paused and blocked runs', async () => {
  const gate = new Gate();
  const before = await harness({ types: [gate.type] });
  const running = await before.start(before.workflow(chain(2, 'gate')));
  const draining = await before.start(before.workflow(chain(2, 'gate')));
  const paused = await before.start(before.workflow(chain(2, 'gate')));
  await gate.arrived(3);
  await before.orchestrator.command(draining, { type: 'stop', mode: 'graceful', by });
  await before.orchestrator.command(paused, { type: 'pause', by });
  const blocked = await before.start(before.workflow(one('human_task')));
  const timed = await before.start(
    before.workflow({ steps: [{ id: 'a', type: 'human_task', timeout_s: 60, on_timeout: 'reject' }] }),
  );
  for (const ref of [blocked, timed]) await before.until(ref, event => event.type === 'task_pending');
  await before.orchestrator.close();

  const time = new ManualTime();
  const gates = new Gate();
  const after = await harness({ types: [gates.type], clock: time.clock, alarm: time.alarm });
  expect((await after.orchestrator.recovered)?.recovered).toBe(3);
  await after.ended(draining);
  expect(outline(await after.events(draining)).slice(-3)).toEqual([
    'step_cancelled s0',
    'step_completed s1',
    'state_changed stopped',
  ]);
  await gates.arrived(1);
  gates.waiting[0]?.settle(completed);
  await gates.arrived(2);
  gates.waiting[1]?.settle(completed);
  await after.ended(running);
  // The paused run is not touched until it is resumed; then its lost attempt is started again.
  expect(gates.waiting).toHaveLength(2);
  await after.orchestrator.command(paused, { type: 'resume', by });
  await gates.arrived(3);
  gates.waiting[2]?.settle(completed);
  await gates.arrived(4);
  gates.waiting[3]?.settle(completed);
  await after.ended(paused);
  expect(after.orchestrator.liveRuns).toBe(0);
  await after.orchestrator.completeTask(blocked, { step: 'a', approved: false, result: {}, by });
  await after.ended(blocked);
  time.advance(60_000);
  await after.ended(timed);
  for (const ref of [running, draining, paused, blocked, timed]) expectSound(await after.events(ref));
});

test('the limit of active runs counts those from before', async () => {
  const config = { ...DEFAULT_CONFIG, maxActiveRunsPerTenant: 1 };
  const tenant = newId();
  const before = await harness({ config });
  const workflow = before.workflow(one('human_task'), tenant);
  const ref = await before.start(workflow);
  await before.until(ref, event => event.type === 'task_pending');
  await before.orchestrator.close();
  const after = await harness({ config });
  expect(await code(after.start(workflow))).toContain('429');
  await after.orchestrator.completeTask(ref, { step: 'a', approved: true, result: {}, by });
  await after.ended(ref);
  await after.start(workflow);
});

test('a lost session: nothing acknowledged is lost, callers are told to retry, and the runs continue', async () => {
  const h = await harness();
  const workflow = h.workflow(chain(8));
  const acknowledged: RunRef[] = [];
  for (let round = 0; round < 4; round += 1) {
    const batch = Array.from({ length: 30 }, () => newId());
    const starts = Promise.allSettled(batch.map(runId => h.orchestrator.start(startRun(workflow, {}, runId))));
    // The end of the previous round may not have been noticed yet: then all of these are refused and none starts.
    const advanced = h.until({ ...workflow, runId: batch[0] ?? '' }, event => event.type === 'step_completed');
    if (round % 2 === 1) await Promise.race([advanced, starts]);
    await cutLeader();
    for (const [index, result] of (await starts).entries()) {
      if (result.status === 'fulfilled') acknowledged.push({ ...workflow, runId: batch[index] ?? '' });
      else expect(await code(Promise.reject(result.reason))).toMatch(/^503 .* retry$/);
    }
    await until(h.orchestrator, 'leading');
  }
  expect(acknowledged.length).toBeGreaterThan(0);
  for (const ref of acknowledged) {
    await expect.poll(async () => (await h.events(ref)).some(({ event }) => isEnd(event))).toBe(true);
    expectSound(await h.events(ref));
  }
  // A start that was not acknowledged either does not exist or ran to its end: none is stuck.
  const open = `SELECT count(*)::int AS n FROM runs WHERE workflow_id = $1 AND ended_at IS NULL`;
  await expect.poll(async () => (await db.pool.query(open, [workflow.workflowId])).rows[0].n).toBe(0);
});

test('listeners are notified that the feed was interrupted when the session is lost', async () => {
  const h = await harness();
  let interrupted = 0;
  const { tenantId } = h.workflow(chain(1));
  h.orchestrator.subscribe(
    { tenantId },
    () => undefined,
    () => {
      interrupted += 1;
    },
  );
  await cutLeader();
  await expect.poll(() => interrupted).toBe(1);
  await until(h.orchestrator, 'leading');
  expect(interrupted).toBe(1);
});

test('when the session is lost, attempts are aborted at once and started again by the next leader', async () => {
  const gate = new Gate();
  const h = await harness({ types: [gate.type] });
  const ref = await h.start(h.workflow(one('gate')));
  await gate.arrived(1);
  await cutLeader();
  await gate.arrived(2);
  expect(gate.waiting[0]?.signal.aborted).toBe(true);
  gate.waiting[0]?.settle({ kind: 'completed', result: 'too late' });
  gate.waiting[1]?.settle({ kind: 'completed', result: 'in time' });
  await h.ended(ref);
  const events = await h.events(ref);
  expectSound(events);
  expect(JSON.stringify(events)).not.toContain('too late');
});

test('two writers forced on one run: the log fences one of them, and the run has one history', async () => {
  const time = new ManualTime();
  const gate = new Gate();
  const first = await harness({ types: [gate.type], clock: time.clock, alarm: time.alarm, lock: 1 });
  const runs = await Promise.all(Array.from({ length: 5 }, () => first.start(first.workflow(chain(2, 'gate')))));
  await gate.arrived(5);
  // The second does not see the first one's lock and believes its attempts lost.
  const theirs = new Gate();
  const second = await harness({ types: [theirs.type], clock: time.clock, alarm: time.alarm, lock: 2 });
  await second.orchestrator.recovered;
  await theirs.arrived(5);
  for (const { settle } of gate.waiting) settle({ kind: 'completed', result: 'fenced' });
  const fenced = await Promise.all(
    runs.map(ref => code(first.orchestrator.command(ref, { type: 'pause', by: 'first' }))),
  );
  // Nothing that the first one believed is written: it is refused, or it reads the log again and continues from there.
  for (const answer of fenced) expect(answer).toMatch(/^ok$|^503 run_contended retry$/);
  await first.orchestrator.close();
  await second.orchestrator.close();
  const last = new Gate();
  const third = await harness({ types: [last.type], lock: 3 });
  await third.orchestrator.recovered;
  for (const ref of runs) await third.orchestrator.command(ref, { type: 'resume', by });
  for (let count = 1; count <= 10; count += 1) {
    await last.arrived(count);
    last.waiting[count - 1]?.settle(completed);
  }
  for (const ref of runs) {
    await third.ended(ref);
    const events = await third.events(ref);
    expectSound(events);
    expect(JSON.stringify(events)).not.toContain('fenced');
  }
});

test('a log that cannot be folded, and a version that cannot be read, stop no other run', async () => {
  const gate = new Gate();
  const before = await harness({ types: [gate.type] });
  const workflow = before.workflow(one('gate'));
  const [broken, sound] = [await before.start(workflow), await before.start(workflow)];
  await gate.arrived(2);
  await before.orchestrator.close();
  await db.pool.query(`UPDATE run_events SET step_id = 'no_such_step' WHERE run_id = $1 AND seq = 2`, [broken.runId]);
  const next = new Gate();
  const after = await harness({ types: [next.type] });
  await after.orchestrator.recovered;
  await next.arrived(1);
  expect(next.waiting[0]?.attempt.run.id).toBe(sound.runId);
  next.waiting[0]?.settle(completed);
  await after.ended(sound);
  expect(await code(after.orchestrator.command(broken, { type: 'pause', by }))).toBe('503 unavailable retry');
  expect(next.waiting).toHaveLength(1);
  await db.pool.query(`UPDATE run_events SET step_id = 'a' WHERE run_id = $1 AND seq = 2`, [broken.runId]);
  await after.orchestrator.command(broken, { type: 'stop', mode: 'immediate', by });
  expectSound(await after.events(broken));
});

test('the pool may be closed right after it: recovery reads no more', async () => {
  const reads: Promise<unknown>[] = [];
  let under = 0;
  const pool = new Proxy(db.pool, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (name !== 'query') return typeof value === 'function' ? value.bind(target) : value;
      return (...args: Parameters<typeof target.query>) => {
        under += 1;
        const answer = Promise.resolve(target.query(...args)).finally(() => {
          under -= 1;
        });
        reads.push(answer);
        return answer;
      };
    },
  });
  for (let times = 0; times < 20; times++) {
    const { orchestrator } = await harness({ pool });
    await orchestrator.close();
    expect(under).toBe(0);
  }
  expect(reads.length).toBeGreaterThan(20);
});
