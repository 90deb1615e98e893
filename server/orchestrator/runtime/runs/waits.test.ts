import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  createHarness,
  DEFAULT_CONFIG,
  Gate,
  type Harness,
  type HarnessOptions,
  ManualTime,
} from '../../../testing/engine/runtime.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import type { Graph } from '../../core/index.ts';
import { unobserved } from '../../ports/observer.ts';
import { wait } from '../../steps/wait/wait.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());
const open: Harness[] = [];
async function harness(time: ManualTime, options: HarnessOptions = {}): Promise<Harness> {
  const made = await createHarness(db, {
    types: [['wait', wait]],
    clock: time.clock,
    alarm: time.alarm,
    ...options,
  });
  open.push(made);
  return made;
}
afterEach(async () => {
  for (const h of open.splice(0)) await h.orchestrator.close();
});

const YEAR_S = 366 * 86_400;
const waiting = (seconds: number): Graph => ({
  steps: [
    { id: 'wait', type: 'wait', seconds },
    { id: 'after', type: 'echo', depends_on: ['wait'] },
  ],
});
const row = async (runId: string) => {
  const sql =
    'SELECT status, orchestration_phase AS phase, pending_tasks AS tasks, next_timer_at AS at FROM runs WHERE id = $1';
  return (await db.pool.query(sql, [runId])).rows[0];
};
/** Also fires timers that are already due: a process that takes over sets them only when it is ready. */
const completed = (runId: string, time: ManualTime) =>
  expect
    .poll(async () => {
      time.advance(0);
      return (await row(runId)).status;
    })
    .toBe('completed');
const isCompleted = (type: string) => type === 'step_completed';
const isWaiting = (event: { type: string }) => event.type === 'step_waiting';
const typesOf = async (h: Harness, ref: Parameters<Harness['events']>[0]) =>
  (await h.events(ref)).map(({ event }) => event.type);

test('a run that waits for a year leaves memory, and a restart does not load it', async () => {
  const time = new ManualTime();
  const first = await harness(time);
  const ref = await first.start(first.workflow(waiting(YEAR_S)));
  await first.until(ref, isWaiting);
  await expect.poll(() => first.orchestrator.liveRuns).toBe(0);
  const stored = await row(ref.runId);
  expect(stored).toMatchObject({ status: 'running', phase: 'blocked', tasks: 0 });
  expect(stored.at.getTime()).toBe(time.clock.now() + YEAR_S * 1000);
  await first.orchestrator.close();

  const second = await harness(time);
  await second.orchestrator.recovered;
  expect(second.orchestrator.liveRuns).toBe(0);
  // It occupies only its row and its log, and a restart touches neither.
  expect(await row(ref.runId)).toEqual(stored);
  time.advance(YEAR_S * 1000 - 1);
  expect(await typesOf(second, ref)).toEqual(['run_started', 'step_started', 'step_waiting']);
  time.advance(1);
  await completed(ref.runId, time);
  const types = await typesOf(second, ref);
  expect(types.filter(type => type === 'step_started')).toHaveLength(2);
  expect(types.filter(isCompleted)).toHaveLength(2);
});

test('a wait that became due while no process led ends at the takeover', async () => {
  const time = new ManualTime();
  const first = await harness(time);
  const ref = await first.start(first.workflow(waiting(60)));
  await first.until(ref, isWaiting);
  await first.orchestrator.close();
  time.advance(600_000);
  const second = await harness(time);
  await completed(ref.runId, time);
  const end = (await second.events(ref)).find(({ event }) => event.type === 'step_completed');
  const waited_until = new Date(time.clock.now() - 540_000).toISOString();
  expect(end?.event).toMatchObject({ step: 'wait', data: { result: { waited_until } } });
});

test('a wait that becomes due while its run is paused ends at the resume', async () => {
  const time = new ManualTime();
  const h = await harness(time);
  const ref = await h.start(h.workflow(waiting(60)));
  await h.until(ref, isWaiting);
  await h.orchestrator.command(ref, { type: 'pause', by: 'ann' });
  time.advance(600_000);
  expect((await typesOf(h, ref)).filter(isCompleted)).toEqual([]);
  await h.orchestrator.command(ref, { type: 'resume', by: 'ann' });
  await completed(ref.runId, time);
});

test('a stop cancels a wait that is not in memory', async () => {
  const h = await harness(new ManualTime());
  const ref = await h.start(h.workflow(waiting(60)));
  await h.until(ref, isWaiting);
  await h.orchestrator.command(ref, { type: 'stop', mode: 'graceful', by: 'ann' });
  expect(await row(ref.runId)).toMatchObject({ status: 'stopped', at: null });
});

test('a wait holds no slot', async () => {
  const time = new ManualTime();
  const h = await harness(time, { config: { ...DEFAULT_CONFIG, maxInFlight: 1, maxInFlightPerTenant: 1 } });
  const ref = await h.start(h.workflow(waiting(60)));
  await h.until(ref, isWaiting);
  const other = await h.start(h.workflow({ steps: [{ id: 'now', type: 'echo' }] }));
  await expect.poll(async () => (await row(other.runId)).status).toBe('completed');
  time.advance(60_000);
  await completed(ref.runId, time);
});

test.each([
  ['a clock that is set back while a retry is written', false],
  ['a clock that is set back while a run with a retry is paused', true],
])('%s does not delay it', async (_, isPaused) => {
  const time = new ManualTime();
  const gate = new Gate();
  const observer = {
    ...unobserved,
    turnCommitted: (_run: unknown, _state: unknown, events: readonly { type: string }[]) => {
      if (!isPaused && events.some(({ type }) => type === 'step_retrying')) time.advance(-3_600_000);
    },
  };
  const h = await harness(time, { types: [gate.type], observer });
  const steps = [{ id: 'a', type: 'gate', retry_count: 1, retry_delay_s: 3 }];
  // With an attempt in flight, the run stays in memory while it is paused.
  const ref = await h.start(h.workflow({ steps: isPaused ? [...steps, { id: 'b', type: 'gate' }] : steps }));
  await gate.arrived(isPaused ? 2 : 1);
  if (isPaused) await h.orchestrator.command(ref, { type: 'pause', by: 'ann' });
  const failing = gate.waiting.find(({ attempt }) => attempt.step.id === 'a');
  failing?.settle({ kind: 'failed', error: { code: 'boom', message: 'It broke.' }, retryable: true });
  await h.until(ref, event => event.type === 'step_retrying');
  if (isPaused) {
    time.advance(-3_600_000);
    await h.orchestrator.command(ref, { type: 'resume', by: 'ann' });
  }
  time.advance(4_500);
  await gate.arrived(isPaused ? 3 : 2);
  for (const { settle } of gate.waiting) settle({ kind: 'completed', result: null });
  await h.ended(ref);
  expect((await row(ref.runId)).status).toBe('completed');
});
