import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createHarness, Gate, type Harness, stepType } from '../../../testing/engine/runtime.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import type { Graph, GraphStep } from '../../core/index.ts';
import { unobserved } from '../../ports/observer.ts';
import type { StreamItem } from '../../ports/orchestrator.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());
const open: Harness[] = [];
afterEach(async () => {
  for (const h of open.splice(0)) await h.orchestrator.close();
});

const failing = stepType('failing', async () => ({
  kind: 'failed',
  error: { code: 'boom', message: 'It failed.' },
  retryable: false,
}));
const DEPENDENTS = 1_990;
/** A step of this type, with all the others after it. */
const bomb = (type: string): Graph => ({
  steps: [
    { id: 'first', type },
    ...Array.from(
      { length: DEPENDENTS },
      (_, index): GraphStep => ({ id: `s${index}`, type: 'echo', depends_on: ['first'] }),
    ),
  ],
});
const rowsOf = async (runId: string): Promise<number> =>
  (await db.pool.query('SELECT count(*)::int AS count FROM run_events WHERE run_id = $1', [runId])).rows[0].count;
const skipped = (reason: string) =>
  Array.from({ length: DEPENDENTS }, (_, index) => [`s${index}`, { skipped: true, reason }]);

test('1,990 steps that one failure skips are a few rows, and events and stream show each of them', async () => {
  const h = await createHarness(db, { types: [failing] });
  open.push(h);
  const workflow = h.workflow(bomb('failing'));
  const streamed: StreamItem[] = [];
  h.orchestrator.subscribe({ tenantId: workflow.tenantId }, items => streamed.push(...items));
  const ref = await h.start(workflow);
  await h.ended(ref);
  expect(await rowsOf(ref.runId)).toBeLessThan(8);
  const events = await h.events(ref);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(events.map(({ event }) => event.type)).toEqual([
    'run_started',
    'step_started',
    'step_failed',
    ...skipped('').map(() => 'step_completed'),
    'state_changed',
  ]);
  const shown = events.flatMap(({ event }) => (event.type === 'step_completed' ? [[event.step, event.data]] : []));
  expect(shown).toEqual(skipped('blocked'));
  expect(streamed.flatMap(({ kind, item }) => (kind === 'event' ? [item] : []))).toEqual(events);
  const { rows } = await db.pool.query('SELECT last_seq, steps_done, steps_skipped FROM runs WHERE id = $1', [
    ref.runId,
  ]);
  expect(rows).toEqual([{ last_seq: events.length, steps_done: DEPENDENTS + 1, steps_skipped: DEPENDENTS }]);
});

test('a stop skips them in the same way, and another process that folds the log agrees', async () => {
  const gate = new Gate();
  const h = await createHarness(db, { types: [gate.type] });
  const workflow = h.workflow(bomb('gate'));
  const ref = await h.start(workflow);
  await gate.arrived(1);
  await h.orchestrator.command(ref, { type: 'stop', mode: 'immediate', by: 'ann' });
  expect(await rowsOf(ref.runId)).toBeLessThan(8);
  await h.orchestrator.close();
  const next = await createHarness(db, {});
  open.push(next);
  const events = await next.events(ref);
  const shown = events.flatMap(({ event }) => (event.type === 'step_completed' ? [[event.step, event.data]] : []));
  expect(shown).toEqual(skipped('run_stopped'));
  // The run is folded for the command, which it then refuses.
  const resume = next.orchestrator.command(ref, { type: 'resume', by: 'ann' });
  await expect(resume).rejects.toMatchObject({ code: 'run_already_ended' });
});

test('100 runs that fail at one instant write a few hundred rows, not 200,000', async () => {
  const gate = new Gate();
  let rows = 0;
  const batchCommitted = (_entries: number, written: number) => {
    rows += written;
  };
  const observer = { ...unobserved, batchCommitted };
  const h = await createHarness(db, { types: [gate.type], observer });
  open.push(h);
  const workflow = h.workflow(bomb('gate'));
  const refs = await Promise.all(Array.from({ length: 100 }, () => h.start(workflow)));
  await gate.arrived(100);
  for (const { settle } of gate.waiting)
    settle({ kind: 'failed', error: { code: 'boom', message: 'It failed.' }, retryable: false });
  await Promise.all(refs.map(ref => h.ended(ref)));
  expect(rows).toBeLessThan(100 * 8);
});
