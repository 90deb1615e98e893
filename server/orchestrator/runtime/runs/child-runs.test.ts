import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  createHarness,
  DEFAULT_CONFIG,
  Gate,
  type Harness,
  type HarnessOptions,
  ManualTime,
  outline,
  stepType,
} from '../../../testing/engine/runtime.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import type { Graph, JsonMap, RunEvent } from '../../core/index.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());
const open: Harness[] = [];
afterEach(async () => {
  for (const h of open.splice(0)) await h.orchestrator.close();
});

/** Calls the workflow that `workflow_id` names; its result names the run. */
const call = stepType('call_workflow', async ({ step, child }) => {
  if (child != null) return { kind: 'completed', result: { of: child.runId } };
  const input = (step.input ?? {}) as JsonMap;
  const detach = step.detach === true;
  return { kind: 'calling', call: { workflowId: String(step.workflow_id), version: 1, input, detach } };
});

async function harness(options: HarnessOptions = {}): Promise<Harness> {
  const made = await createHarness(db, { ...options, types: [call, ...(options.types ?? [])] });
  open.push(made);
  return made;
}
const calling = (workflowId: string, more: JsonMap = {}): Graph => ({
  steps: [
    { id: 'call', type: 'call_workflow', workflow_id: workflowId, ...more },
    { id: 'after', type: 'echo', depends_on: ['call'] },
  ],
});
const single = (type: string): Graph => ({ steps: [{ id: 'only', type }] });
const isCalled = (event: RunEvent) => event.type === 'child_called';

/** The runs that a run has called, as they are in the database. */
async function childrenOf(runId: string) {
  const { rows } = await db.pool.query<{ id: string; status: string; step: string; detached: boolean }>(
    `SELECT r.id, r.status, c.parent_step_id AS step, c.detached FROM child_runs c JOIN runs r ON r.id = c.run_id
     WHERE c.parent_run_id = $1 ORDER BY r.id`,
    [runId],
  );
  return rows;
}
const statusOf = async (runId: string) =>
  (await db.pool.query('SELECT status FROM runs WHERE id = $1', [runId])).rows[0]?.status;

/** Deletes a run, as if it had never started. */
async function forget(runId: string): Promise<void> {
  for (const table of ['child_runs', 'run_events', 'human_tasks'])
    await db.pool.query(`DELETE FROM ${table} WHERE run_id = $1`, [runId]);
  await db.pool.query('DELETE FROM runs WHERE id = $1', [runId]);
}

/** The pool, calling `before` with the text of each query before it starts. */
function queriesAfter(before: (text: string) => Promise<void>): TestDatabase['pool'] {
  return new Proxy(db.pool, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (name !== 'query') return typeof value === 'function' ? value.bind(target) : value;
      return async (query: { text: string } | string, ...values: []) => {
        await before(typeof query === 'string' ? query : query.text);
        return target.query(query as string, ...values);
      };
    },
  });
}

test('a run waits for the one that it calls without a slot, and continues when that has ended', async () => {
  const gate = new Gate();
  // One slot: if a waiting run kept it, no run would ever end.
  const config = { ...DEFAULT_CONFIG, maxInFlight: 1, maxInFlightPerTenant: 1 };
  const h = await harness({ types: [gate.type], config });
  const child = h.workflow(single('gate'));
  const ref = await h.start(h.workflow(calling(child.workflowId, { input: { large: 'x'.repeat(20_000) } })));
  await gate.arrived(1);
  expect(gate.waiting[0]?.attempt.input).toEqual({ large: 'x'.repeat(20_000) });
  gate.waiting[0]?.settle({ kind: 'completed', result: 1 });
  await h.ended(ref);
  const [found, ...others] = await childrenOf(ref.runId);
  expect(others).toEqual([]);
  expect(found).toMatchObject({ status: 'completed', step: 'call', detached: false });
  const events = await h.events(ref);
  expect(outline(events)).toEqual([
    'run_started',
    'step_started call',
    'child_called call',
    'child_ended call',
    'step_started call',
    'step_completed call',
    'step_started after',
    'step_completed after',
    'state_changed completed',
  ]);
  expect(events.find(({ event }) => event.type === 'step_completed')?.event.data).toEqual({
    result: { of: found?.id },
  });
});

test('a run that waits for a waiting run leaves memory, and is loaded again', async () => {
  const time = new ManualTime();
  const h = await harness({ clock: time.clock, alarm: time.alarm });
  const child = h.workflow(single('human_task'));
  const ref = await h.start(h.workflow(calling(child.workflowId)));
  await h.until(ref, isCalled);
  await expect.poll(() => childrenOf(ref.runId)).toHaveLength(1);
  await expect
    .poll(() => {
      // The progress in its row is written first.
      time.advance(1_000);
      return h.orchestrator.liveRuns;
    })
    .toBe(0);
  const [{ id: runId } = { id: '' }] = await childrenOf(ref.runId);
  const task = { step: 'only', approved: true, result: {}, by: 'ann' };
  await h.orchestrator.completeTask({ ...child, runId }, task);
  await h.ended(ref);
  expect(await statusOf(ref.runId)).toBe('completed');
});

test('a restart finds the end of a called run in the database, and a call that was not carried out', async () => {
  const first = await harness();
  const child = first.workflow(single('human_task'));
  const parents = await Promise.all([1, 2].map(() => first.start(first.workflow(calling(child.workflowId)))));
  await Promise.all(parents.map(ref => expect.poll(() => childrenOf(ref.runId)).toHaveLength(1)));
  await first.orchestrator.close();
  const [ended, never] = await Promise.all(parents.map(async ({ runId }) => (await childrenOf(runId))[0]?.id ?? ''));
  // As if the process had died right after the end of one run, and right before the start of the other.
  await db.pool.query(`UPDATE runs SET status = 'completed', ended_at = started_at WHERE id = $1`, [ended]);
  await forget(never ?? '');

  const second = await harness();
  const [one, two] = parents;
  if (one === undefined || two === undefined) throw new Error('two runs were started');
  await second.ended(one);
  await expect.poll(() => statusOf(never ?? '')).toBe('running');
  expect((await childrenOf(two.runId)).map(({ id }) => id)).toEqual([never]);
  await second.orchestrator.command(two, { type: 'stop', mode: 'immediate', by: 'ann' });
  await expect.poll(() => statusOf(never ?? '')).toBe('stopped');
});

test('a stop reaches the lowest run, immediately or gracefully', async () => {
  const gate = new Gate();
  const h = await harness({ types: [gate.type] });
  const leaf = h.workflow(single('gate'));
  const middle = h.workflow(calling(leaf.workflowId));
  const top = h.workflow(calling(middle.workflowId));
  for (const [count, mode] of (['immediate', 'graceful'] as const).entries()) {
    const ref = await h.start(top);
    await gate.arrived(count + 1);
    await h.orchestrator.command(ref, { type: 'stop', mode, by: 'ann' });
    const [{ id: middleId } = { id: '' }] = await childrenOf(ref.runId);
    const [{ id: leafId } = { id: '' }] = await childrenOf(middleId);
    if (mode === 'graceful') {
      await h.until({ ...leaf, runId: leafId }, event => event.type === 'stop_requested');
      expect(await statusOf(ref.runId)).toBe('running');
      gate.waiting[count]?.settle({ kind: 'completed', result: 1 });
    }
    await h.ended(ref);
    for (const runId of [ref.runId, middleId]) await expect.poll(() => statusOf(runId)).toBe('stopped');
    await expect.poll(() => statusOf(leafId)).toBe('stopped');
  }
});

test.each(['immediate', 'graceful'] as const)(
  'a stop that comes while a run is being called (%s) ends that run, too',
  async mode => {
    const graphs = new Map<string, Graph>();
    const starting = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const called = single('human_task');
    // A run counts as being started until its graph has been read.
    const loadVersion = async ({ workflowId }: { workflowId: string }) => {
      const graph = graphs.get(workflowId) ?? null;
      if (graph !== called) return graph;
      starting.resolve();
      await held.promise;
      return graph;
    };
    const h = await harness({ loadVersion });
    const child = h.workflow(called);
    graphs.set(child.workflowId, called);
    const parent = h.workflow(single('echo'));
    graphs.set(parent.workflowId, calling(child.workflowId));
    const ref = await h.start(parent);
    await starting.promise;
    await h.orchestrator.command(ref, { type: 'stop', mode, by: 'ann' });
    held.resolve();
    await h.ended(ref);
    await expect.poll(() => childrenOf(ref.runId)).toMatchObject([{ status: 'stopped' }]);
  },
);

test('a stop that arrives while a call of an earlier process is looked up ends that run too', async () => {
  const first = await harness();
  const child = first.workflow(single('human_task'));
  const ref = await first.start(first.workflow(calling(child.workflowId)));
  await expect.poll(() => childrenOf(ref.runId)).toHaveLength(1);
  await first.orchestrator.close();
  const [{ id } = { id: '' }] = await childrenOf(ref.runId);
  await forget(id);

  const lookedUp = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const second = await harness({
    pool: queriesAfter(async query => {
      if (!query.includes('LEFT JOIN child_runs')) return;
      lookedUp.resolve();
      await held.promise;
    }),
  });
  await lookedUp.promise;
  await second.orchestrator.command(ref, { type: 'stop', mode: 'immediate', by: 'ann' });
  await second.ended(ref);
  held.resolve();
  await expect.poll(() => statusOf(id)).toBe('stopped');
});

test('a failed run fails the step with its name, and a retry calls another one', async () => {
  const h = await harness({
    types: [
      stepType('fails', async () => ({
        kind: 'failed',
        error: { code: 'boom', message: 'It broke.' },
        retryable: false,
      })),
    ],
  });
  const child = h.workflow(single('fails'));
  const ref = await h.start(h.workflow(calling(child.workflowId, { retry_count: 1, retry_delay_s: 0 })));
  await h.ended(ref);
  const children = await childrenOf(ref.runId);
  expect(children.map(({ status }) => status)).toEqual(['failed', 'failed']);
  const events = (await h.events(ref)).map(({ event }) => event);
  const last = events.findLast(event => event.type === 'child_ended')?.data.run_id;
  expect(children.map(({ id }) => id)).toContain(last);
  const failure = events.find(event => event.type === 'step_failed');
  const message = `The child run ${last} failed at its step "only": It broke. (boom)`;
  expect(failure?.data).toMatchObject({ error: { code: 'child_run_failed', message } });
});

test('runs that wait do not block the runs that they wait for', async () => {
  const gate = new Gate();
  const config = { ...DEFAULT_CONFIG, maxActiveRunsPerTenant: 2 };
  const h = await harness({ types: [gate.type], config });
  const child = h.workflow(single('gate'), 'full');
  const parent = h.workflow(calling(child.workflowId), 'full');
  const refs = await Promise.all([h.start(parent), h.start(parent)]);
  await gate.arrived(2);
  await expect(h.start(parent)).rejects.toMatchObject({ code: 'too_many_active_runs' });
  for (const { settle } of gate.waiting) settle({ kind: 'completed', result: 1 });
  await Promise.all(refs.map(ref => h.ended(ref)));
  for (const { runId } of refs) expect(await statusOf(runId)).toBe('completed');
});

test('a step that does not wait returns the id of the run', async () => {
  const h = await harness();
  const child = h.workflow(single('human_task'));
  const ref = await h.start(h.workflow(calling(child.workflowId, { detach: true })));
  await h.ended(ref);
  const [found] = await childrenOf(ref.runId);
  expect(found).toMatchObject({ status: 'running', detached: true });
  const completed = (await h.events(ref)).find(({ event }) => event.type === 'step_completed')?.event;
  expect(completed?.data).toEqual({ result: { run_id: found?.id } });
});

test('when a step that waits times out, the run that it called is stopped', async () => {
  const time = new ManualTime();
  const h = await harness({ clock: time.clock, alarm: time.alarm });
  const child = h.workflow(single('human_task'));
  const ref = await h.start(h.workflow(calling(child.workflowId, { timeout_s: 60 })));
  await expect.poll(() => childrenOf(ref.runId)).toHaveLength(1);
  await expect.poll(() => h.orchestrator.liveRuns).toBe(0);
  time.advance(60_000);
  await h.ended(ref);
  const [{ id } = { id: '' }] = await childrenOf(ref.runId);
  await expect.poll(() => statusOf(id)).toBe('stopped');
});
