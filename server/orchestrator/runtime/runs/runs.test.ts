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
  stepType,
} from '../../../testing/engine/runtime.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import type { Graph, JsonValue } from '../../core/index.ts';
import { PROGRESS_LAG_MS } from '../../turn/progress.ts';

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

const code = (promise: Promise<unknown>) =>
  promise.then(
    () => 'ok',
    (error: AppError) => `${error.status} ${error.code}`,
  );
const row = async (runId: string) => (await db.pool.query('SELECT * FROM runs WHERE id = $1', [runId])).rows[0];
const completed = { kind: 'completed', result: null } as const;
const one = (type: string, more: Record<string, JsonValue> = {}): Graph => ({ steps: [{ id: 'a', type, ...more }] });
const by = 'ann';

test('a chain runs to its end; a step’s end and its dependent’s start share a commit', async () => {
  const h = await harness();
  const seen: string[][] = [];
  const workflow = h.workflow(chain(3));
  h.orchestrator.subscribe({ tenantId: 'acme', workflowId: workflow.workflowId }, items =>
    seen.push(outline(items.flatMap(item => (item.kind === 'event' ? [item.item] : [])))),
  );
  const ref = await h.start(workflow, { input: { n: 1 } });
  await h.ended(ref);
  expect(seen).toEqual([
    ['run_started', 'step_started s0'],
    ['step_completed s0', 'step_started s1'],
    ['step_completed s1', 'step_started s2'],
    ['step_completed s2', 'state_changed completed'],
  ]);
  const events = await h.events(ref);
  expect(outline(events)).toEqual(seen.flat());
  expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(await row(ref.runId)).toMatchObject({
    status: 'completed',
    orchestration_phase: 'complete',
    steps_done: 3,
    last_seq: 8,
  });
  expect(h.orchestrator.liveRuns).toBe(0);
});

test('a run id is used once, whether its run is in memory, in the log, or just starting', async () => {
  const gate = new Gate();
  const h = await harness({ types: [gate.type] });
  const workflow = h.workflow(one('gate'));
  const runId = newId();
  const both = await Promise.all([
    code(h.orchestrator.start(startRun(workflow, {}, runId))),
    code(h.orchestrator.start(startRun(workflow, {}, runId))),
  ]);
  expect(both.sort()).toEqual(['409 run_id_taken', 'ok']);
  expect(await code(h.start(workflow, {}, runId))).toBe('409 run_id_taken');
  await gate.arrived(1);
  gate.waiting[0]?.settle(completed);
  await h.ended({ ...workflow, runId });
  expect(await code(h.start(workflow, {}, runId))).toBe('409 run_id_taken');
  expect((await h.events({ ...workflow, runId })).filter(({ event }) => isEnd(event))).toHaveLength(1);
});

test('pause starts nothing more and lets attempts in flight finish; resume continues', async () => {
  const gate = new Gate();
  const h = await harness({ types: [gate.type] });
  const ref = await h.start(h.workflow(chain(2, 'gate')));
  await gate.arrived(1);
  expect(await h.orchestrator.command(ref, { type: 'pause', by })).toMatchObject({
    status: 'paused',
    phase: 'draining',
  });
  gate.waiting[0]?.settle(completed);
  await h.until(ref, event => event.type === 'step_completed');
  // Quiescent: only the log has it now.
  await expect.poll(() => h.orchestrator.liveRuns).toBe(0);
  expect(await h.orchestrator.command(ref, { type: 'pause', by })).toMatchObject({ status: 'paused', phase: 'paused' });
  expect(gate.waiting).toHaveLength(1);
  expect(await h.orchestrator.command(ref, { type: 'resume', by })).toMatchObject({ status: 'running' });
  await gate.arrived(2);
  gate.waiting[1]?.settle(completed);
  await h.ended(ref);
  expect(outline(await h.events(ref))).toEqual([
    'run_started',
    'step_started s0',
    'state_changed paused',
    'step_completed s0',
    'state_changed running',
    'step_started s1',
    'step_completed s1',
    'state_changed completed',
  ]);
});

test('an immediate stop aborts attempts in flight, and a late result is dropped', async () => {
  const gate = new Gate();
  const h = await harness({ types: [gate.type] });
  const ref = await h.start(h.workflow(chain(2, 'gate')));
  await gate.arrived(1);
  const snapshot = await h.orchestrator.command(ref, { type: 'stop', mode: 'immediate', by });
  expect(snapshot).toMatchObject({ status: 'stopped', phase: 'complete' });
  await expect.poll(() => gate.waiting[0]?.signal.aborted).toBe(true);
  const before = await h.events(ref);
  gate.waiting[0]?.settle(completed);
  await h.ended(await h.start(h.workflow(chain(2))));
  expect(await h.events(ref)).toEqual(before);
  expect(await code(h.orchestrator.command(ref, { type: 'resume', by }))).toBe('409 run_already_ended');
});

test('a graceful stop lets attempts in flight finish', async () => {
  const gate = new Gate();
  const h = await harness({ types: [gate.type] });
  const ref = await h.start(h.workflow(chain(2, 'gate')));
  await gate.arrived(1);
  const snapshot = await h.orchestrator.command(ref, { type: 'stop', mode: 'graceful', by });
  expect(snapshot).toMatchObject({ status: 'running', phase: 'draining' });
  gate.waiting[0]?.settle(completed);
  await h.ended(ref);
  expect(gate.waiting[0]?.signal.aborted).toBe(false);
  expect(outline(await h.events(ref)).slice(-3)).toEqual([
    'step_completed s0',
    'step_completed s1',
    'state_changed stopped',
  ]);
});

test('a failing step fails the run and aborts the others in flight', async () => {
  const gate = new Gate();
  const h = await harness({ types: [gate.type] });
  const ref = await h.start(
    h.workflow({
      steps: [
        { id: 'a', type: 'gate' },
        { id: 'b', type: 'gate' },
      ],
    }),
  );
  await gate.arrived(2);
  gate.waiting[0]?.settle({ kind: 'failed', error: { code: 'boom', message: 'It broke.' }, retryable: false });
  await h.ended(ref);
  await expect.poll(() => gate.waiting[1]?.signal.aborted).toBe(true);
  expect(await row(ref.runId)).toMatchObject({
    status: 'failed',
    error: { code: 'boom', message: 'It broke.', step_id: 'a' },
  });
});

test('a human task leaves memory while it waits, and is answered once', async () => {
  const h = await harness();
  const graph: Graph = {
    steps: [
      { id: 'ask', type: 'human_task', name: 'Sign' },
      { id: 'after', type: 'echo', depends_on: ['ask'] },
    ],
  };
  const ref = await h.start(h.workflow(graph));
  await h.until(ref, event => event.type === 'task_pending');
  await expect.poll(() => h.orchestrator.liveRuns).toBe(0);
  expect(await row(ref.runId)).toMatchObject({ status: 'running', orchestration_phase: 'blocked', pending_tasks: 1 });
  const answer = { step: 'ask', approved: true, result: { note: 'fine' }, by };
  expect(await code(h.orchestrator.completeTask({ ...ref, tenantId: 'other' }, answer))).toBe('404 not_found');
  expect(await code(h.orchestrator.completeTask({ ...ref, workflowId: newId() }, answer))).toBe('404 not_found');
  expect(await code(h.orchestrator.completeTask(ref, { ...answer, step: 'nope' }))).toBe('404 not_found');
  expect(await code(h.orchestrator.completeTask(ref, { ...answer, step: 'after' }))).toBe('404 not_found');
  expect(await code(h.orchestrator.completeTask({ ...ref, runId: newId() }, answer))).toBe('404 not_found');
  const twice = await Promise.all([
    code(h.orchestrator.completeTask(ref, answer)),
    code(h.orchestrator.completeTask(ref, answer)),
  ]);
  expect(twice).toEqual(['ok', '409 task_already_completed']);
  await h.ended(ref);
  const task = await db.pool.query('SELECT * FROM human_tasks WHERE run_id = $1', [ref.runId]);
  expect(task.rows[0]).toMatchObject({ state: 'completed', approved: true, completed_by: by, name: 'Sign' });
});

test('a human task times out while its run is not in memory', async () => {
  const time = new ManualTime();
  const h = await harness({ clock: time.clock, alarm: time.alarm });
  const fails = await h.start(h.workflow(one('human_task', { timeout_s: 60 })));
  const approves = await h.start(h.workflow(one('human_task', { timeout_s: 120, on_timeout: 'approve' })));
  for (const ref of [fails, approves]) await h.until(ref, event => event.type === 'task_pending');
  await expect.poll(() => h.orchestrator.liveRuns).toBe(0);
  time.advance(59_999);
  expect(h.orchestrator.liveRuns).toBe(0);
  time.advance(1);
  await h.ended(fails);
  expect(await row(fails.runId)).toMatchObject({ status: 'failed', error: { code: 'task_timed_out' } });
  expect(await row(approves.runId)).toMatchObject({ status: 'running' });
  time.advance(60_000);
  await h.ended(approves);
  const states = await db.pool.query('SELECT state, approved FROM human_tasks WHERE run_id = ANY($1) ORDER BY due_at', [
    [fails.runId, approves.runId],
  ]);
  expect(states.rows).toEqual([
    { state: 'timed_out', approved: null },
    { state: 'timed_out', approved: true },
  ]);
});

test('a step that takes too long is aborted and retried; its late outcome is ignored', async () => {
  const time = new ManualTime();
  const gate = new Gate('gate', 30);
  const h = await harness({ types: [gate.type], clock: time.clock, alarm: time.alarm });
  const ref = await h.start(h.workflow(one('gate', { retry_count: 1, timeout_s: 5 })));
  await gate.arrived(1);
  time.advance(4_999);
  expect(gate.waiting[0]?.signal.aborted).toBe(false);
  time.advance(1);
  await h.until(ref, event => event.type === 'step_retrying');
  expect(gate.waiting[0]?.signal.aborted).toBe(true);
  gate.waiting[0]?.settle(completed);
  // The default delay is a second, plus up to a second of jitter.
  time.advance(1_000);
  await gate.arrived(2);
  time.advance(5_000);
  await h.ended(ref);
  expect(await row(ref.runId)).toMatchObject({ status: 'failed', error: { code: 'step_timed_out' } });
  expect(outline(await h.events(ref))).toEqual([
    'run_started',
    'step_started a',
    'step_retrying a',
    'step_started a',
    'step_failed a',
    'state_changed failed',
  ]);
});

test('a step type’s own default timeout holds where the step says nothing', async () => {
  const time = new ManualTime();
  const gate = new Gate('gate', 30);
  const h = await harness({ types: [gate.type], clock: time.clock, alarm: time.alarm });
  const ref = await h.start(h.workflow(one('gate')));
  await gate.arrived(1);
  time.advance(30_000);
  await h.ended(ref);
  expect(await row(ref.runId)).toMatchObject({ error: { code: 'step_timed_out' } });
});

test('a step type that throws fails the step without revealing why', async () => {
  const throws = stepType('throws', async () => {
    throw new Error('password is hunter2');
  });
  const h = await harness({ types: [throws] });
  const ref = await h.start(h.workflow(one('throws')));
  await h.ended(ref);
  const failed = JSON.stringify(await h.events(ref));
  expect(failed).toContain('internal_error');
  expect(failed).not.toContain('hunter2');
});

test('an unknown step type fails the step', async () => {
  const h = await harness();
  const ref = await h.start(h.workflow(one('from_the_future')));
  await h.ended(ref);
  expect(await row(ref.runId)).toMatchObject({ error: { code: 'unknown_step_type' } });
});

test('a step reads its ancestors’ results and no others', async () => {
  const read: JsonValue[] = [];
  const reader = stepType('reader', async attempt => {
    read.push(attempt.result('s0'), [...attempt.ancestors()].sort());
    let refused = false;
    try {
      attempt.result('aside');
    } catch {
      refused = true;
    }
    return { kind: 'completed', result: refused };
  });
  const h = await harness({ types: [reader] });
  const graph: Graph = {
    steps: [...chain(2).steps, { id: 'aside', type: 'echo' }, { id: 'r', type: 'reader', depends_on: ['s1'] }],
  };
  const ref = await h.start(h.workflow(graph));
  await h.ended(ref);
  expect(read).toEqual([{ from: 's0' }, ['s0', 's1']]);
  const last = (await h.events(ref)).map(({ event }) => event).find(e => e.type === 'step_completed' && e.step === 'r');
  expect(last?.data).toEqual({ result: true });
});

test('texts that PostgreSQL cannot read are cleaned, and one value that the database refuses fails only its step', async () => {
  const odd = stepType('odd', async () => ({ kind: 'completed', result: 'nul \0, half \ud800' }));
  const asks = stepType('human_task', async attempt => ({
    kind: 'waiting',
    // Texts are made storable; a time before the first that PostgreSQL has is not.
    task: {
      name: 'n\0',
      instructions: '',
      form: { 'k\0': 1 },
      assignees: ['\0'],
      due_at: attempt.step.id === 'bad' ? -1e15 : null,
      on_timeout: 'fail',
    },
  }));
  const h = await harness({ types: [odd, asks] });
  const kept = await h.start(h.workflow(one('odd')));
  await h.ended(kept);
  expect(JSON.stringify((await h.events(kept))[2]?.event.data)).toBe(
    JSON.stringify({ result: 'nul \uFFFD, half \uFFFD' }),
  );
  const asked = await h.start(h.workflow(one('human_task')));
  await h.until(asked, event => event.type === 'task_pending');
  const refused = await h.start(h.workflow({ steps: [{ id: 'bad', type: 'human_task' }] }));
  await h.ended(refused);
  expect(await row(refused.runId)).toMatchObject({ status: 'failed', error: { code: 'not_storable', step_id: 'bad' } });
});

test('a result over 16 KiB streams as a reference and is whole for the steps that read it', async () => {
  const big = 'x'.repeat(20_000);
  let length = 0;
  const makes = stepType('makes', async () => ({ kind: 'completed', result: big }));
  const reads = stepType('reads', async attempt => {
    length = String(attempt.result('a')).length;
    return completed;
  });
  const gate = new Gate();
  const h = await harness({ types: [makes, reads, gate.type] });
  const steps = [
    { id: 'a', type: 'makes' },
    { id: 'ask', type: 'human_task', depends_on: ['a'] },
    { id: 'b', type: 'reads', depends_on: ['ask'] },
  ];
  const workflow = h.workflow({ steps });
  const streamed: unknown[] = [];
  h.orchestrator.subscribe({ tenantId: 'acme', workflowId: workflow.workflowId }, items => streamed.push(...items));
  const ref = await h.start(workflow);
  await h.until(ref, event => event.type === 'task_pending');
  await expect.poll(() => h.orchestrator.liveRuns).toBe(0);
  await h.orchestrator.completeTask(ref, { step: 'ask', approved: true, result: {}, by });
  await h.ended(ref);
  expect(length).toBe(20_000);
  expect(JSON.stringify(streamed)).toContain('"result_ref":{"payload_id":');
  expect(JSON.stringify(streamed)).not.toContain(big);
});

test('log lines are written while the attempt runs and at its end', async () => {
  const logs = stepType('logs', async attempt => {
    attempt.log(['early']);
    await new Promise(resolve => setImmediate(resolve));
    return { kind: 'completed', result: null, log: ['late'] };
  });
  const h = await harness({ types: [logs] });
  const ref = await h.start(h.workflow(one('logs')));
  await h.ended(ref);
  const lines = (await h.events(ref)).flatMap(({ event }) => (event.type === 'step_log' ? event.data.lines : []));
  expect(lines).toEqual(['early', 'late']);
});

test('one tenant’s flood does not delay another’s step, and limits hold in total and per tenant', async () => {
  const gate = new Gate();
  const config = { ...DEFAULT_CONFIG, maxInFlight: 4, maxInFlightPerTenant: 3 };
  const h = await harness({ types: [gate.type], config });
  const wide: Graph = { steps: Array.from({ length: 20 }, (_, i) => ({ id: `w${i}`, type: 'gate' })) };
  const flood = await h.start(h.workflow(wide, 'loud'));
  await gate.arrived(2);
  const quiet = await h.start(h.workflow(one('gate'), 'quiet'));
  const third = await h.start(h.workflow(one('gate'), 'third'));
  await gate.arrived(4);
  // All slots are taken; the first one of each tenant is guaranteed.
  const fourth = await h.start(h.workflow(one('gate'), 'fourth'));
  await gate.arrived(5);
  expect(gate.waiting.map(({ attempt }) => attempt.run.tenantId)).toEqual(['loud', 'loud', 'quiet', 'third', 'fourth']);
  for (const ended of [0, 2, 3, 4]) gate.waiting[ended]?.settle(completed);
  for (const other of [quiet, third, fourth]) await h.ended(other);
  await gate.arrived(6);
  expect(gate.waiting[5]?.attempt.run.tenantId).toBe('loud');
  await h.orchestrator.command(flood, { type: 'stop', mode: 'immediate', by });
});

test('calls that hang do not occupy the slots of other steps', async () => {
  const gate = new Gate();
  const call = new Gate('call');
  const config = { ...DEFAULT_CONFIG, maxInFlight: 2, maxInFlightPerTenant: 1, maxCallsInFlight: 40 };
  const h = await harness({ types: [gate.type, [call.type[0], { ...call.type[1], io: true }]], config });
  const wide: Graph = { steps: Array.from({ length: 40 }, (_, i) => ({ id: `c${i}`, type: 'call' })) };
  const calls = await h.start(h.workflow(wide, 'loud'));
  // Half of the call slots, and its one guaranteed slot.
  await call.arrived(21);
  const own = await h.start(h.workflow(one('gate'), 'loud'));
  const other = await h.start(h.workflow(one('gate'), 'quiet'));
  await gate.arrived(1);
  expect(gate.waiting[0]?.attempt.run.tenantId).toBe('quiet');
  gate.waiting[0]?.settle(completed);
  await h.ended(other);
  for (const waiting of call.waiting) waiting.settle(completed);
  await gate.arrived(2);
  gate.waiting[1]?.settle(completed);
  await h.ended(own);
  await h.orchestrator.command(calls, { type: 'stop', mode: 'immediate', by });
});

test('active runs are limited for each tenant: below, at and above, and after a run ended', async () => {
  const gate = new Gate();
  const h = await harness({ types: [gate.type], config: { ...DEFAULT_CONFIG, maxActiveRunsPerTenant: 2 } });
  const tenant = newId();
  const workflow = h.workflow(one('gate'), tenant);
  const first = await h.start(workflow);
  const second = await h.start(workflow);
  const refused = await h.start(workflow).catch((error: unknown) => error);
  expect(refused).toMatchObject({
    status: 429,
    code: 'too_many_active_runs',
    headers: { 'Retry-After': expect.any(String) },
  });
  const other = await h.start(h.workflow(one('gate'), newId()));
  await h.orchestrator.command(first, { type: 'stop', mode: 'immediate', by });
  const third = await h.start(workflow);
  expect(await code(h.start(workflow))).toBe('429 too_many_active_runs');
  // A start that is repeated finds its run, whatever the limit is.
  expect(await code(h.start(workflow, {}, first.runId))).toBe('409 run_id_taken');
  // Otherwise later tests would recover them.
  for (const run of [second, other, third]) await h.orchestrator.command(run, { type: 'stop', mode: 'immediate', by });
});

/**
 * Holds the place of an event in another transaction, so that the commit that writes the event waits. Returns a
 * function that releases it.
 */
async function holdCommit(runId: string, seq: number): Promise<() => Promise<void>> {
  const other = await db.pool.connect();
  await other.query('BEGIN');
  await other.query(
    `INSERT INTO run_events (run_id, seq, event_type, data, created_at) VALUES ($1, $2, 'x', '{}', to_timestamp(0))`,
    [runId, seq],
  );
  return async () => {
    await other.query('ROLLBACK');
    other.release();
  };
}

/** Resolves once a commit waits for this transaction. */
async function commitWaits(): Promise<void> {
  const blocked = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await expect.poll(async () => (await db.pool.query(blocked)).rows[0].n).toBe(1);
}

test('nothing of a turn is visible before its commit: no answer, no stream, no attempt', async () => {
  const gate = new Gate();
  const h = await harness({ types: [gate.type] });
  const workflow = h.workflow(one('gate'));
  const seen: string[] = [];
  h.orchestrator.subscribe({ tenantId: 'acme', workflowId: workflow.workflowId }, () => seen.push('streamed'));
  const runId = newId();
  const release = await holdCommit(runId, 1);
  // Runs of other tests may be recovered into the same gate.
  const attempts = () => gate.waiting.filter(({ attempt }) => attempt.run.id === runId).length;
  const ref = h.start(workflow, {}, runId);
  const started = ref.then(() => seen.push('answered'));
  await commitWaits();
  expect(seen).toEqual([]);
  expect(attempts()).toBe(0);
  await release();
  await started;
  await expect.poll(attempts).toBe(1);
  expect(seen.sort()).toEqual(['answered', 'streamed']);
  await h.orchestrator.command(await ref, { type: 'stop', mode: 'immediate', by });
});

test('a command that arrives during the commit of the end of its run is answered', async () => {
  const asks = stepType('human_task', async () => ({
    kind: 'waiting',
    task: { name: '', instructions: '', form: null, assignees: [], due_at: null, on_timeout: 'fail' },
  }));
  const h = await harness({ types: [asks] });
  const ref = await h.start(h.workflow(one('human_task')));
  await h.until(ref, event => event.type === 'task_pending');
  const release = await holdCommit(ref.runId, 4);
  const answer = { step: 'a', approved: true, result: {}, by };
  const first = code(h.orchestrator.completeTask(ref, answer));
  await commitWaits();
  const late = [
    code(h.orchestrator.completeTask(ref, answer)),
    code(h.orchestrator.command(ref, { type: 'pause', by })),
  ];
  // Until both are in the mailbox and its turn was deferred.
  await new Promise(resolve => setImmediate(resolve));
  await new Promise(resolve => setImmediate(resolve));
  await release();
  expect([await first, ...(await Promise.all(late))]).toEqual(['ok', '409 run_already_ended', '409 run_already_ended']);
});

test('a workspace without a share of the log left is refused until there is room, and no other workspace is', async () => {
  const limits = { queuedRows: 1, queuedBytes: 1e6, batchRows: 10, batchBytes: 1e6, quantumRows: 1, worthEntries: 1 };
  const gate = new Gate();
  const h = await harness({ writerLimits: limits, types: [gate.type] });
  const workflow = h.workflow(chain(3));
  const asked = await h.start(h.workflow(one('gate')));
  await h.until(asked, event => event.type === 'step_started');
  const runId = newId();
  const release = await holdCommit(runId, 1);
  const first = h.start(workflow, {}, runId);
  await commitWaits();
  expect(await code(h.start(workflow))).toBe('429 too_many_writes');
  expect(await code(h.orchestrator.command(asked, { type: 'resume', by }))).toBe('429 too_many_writes');
  // Stopping and pausing reduce the work of the workspace, so these wait for their turn.
  const stopped = code(h.orchestrator.command(asked, { type: 'stop', mode: 'immediate', by }));
  const other = h.start(h.workflow(chain(3), 'other'));
  await new Promise(resolve => setImmediate(resolve));
  await release();
  expect(await stopped).toBe('ok');
  await h.ended(await other);
  await h.ended(await first);
  await h.ended(await h.start(workflow));
});

test('a refused start is recorded and streamed, and creates no run', async () => {
  const h = await harness();
  const workflow = h.workflow(chain(1));
  const seen: unknown[] = [];
  h.orchestrator.subscribe({ tenantId: 'acme', workflowId: workflow.workflowId }, items => seen.push(...items));
  const rejected = { ...workflow, runId: newId(), at: Date.UTC(2026, 0, 2), code: 'invalid_input', message: 'No.' };
  await h.orchestrator.reject(rejected);
  expect(seen).toEqual([{ kind: 'rejected', item: rejected }]);
  const { rows } = await db.pool.query('SELECT * FROM run_rejections WHERE run_id = $1', [rejected.runId]);
  expect(rows[0]).toMatchObject({ code: 'invalid_input', created_at: new Date(rejected.at) });
  expect(await row(rejected.runId)).toBeUndefined();
});

test('subscribers see only their tenant, workflow and run, and one that throws affects no other', async () => {
  const h = await harness();
  const mine = h.workflow(chain(1), 'mine');
  const theirs = h.workflow(chain(1), 'theirs');
  const seen = new Set<string>();
  const off = h.orchestrator.subscribe({ tenantId: 'mine' }, () => {
    throw new Error('broken listener');
  });
  h.orchestrator.subscribe({ tenantId: 'mine' }, items => {
    for (const item of items) seen.add(item.item.tenantId);
  });
  await h.ended(await h.start(theirs));
  await h.ended(await h.start(mine));
  expect([...seen]).toEqual(['mine']);
  off();
});

test('the progress of a fast run that then slows down is written later', async () => {
  const time = new ManualTime();
  const gate = new Gate();
  const h = await harness({ types: [gate.type], clock: time.clock, alarm: time.alarm });
  const steps = [...chain(3).steps, { id: 'slow', type: 'gate', depends_on: ['s2'] }];
  const ref = await h.start(h.workflow({ steps }));
  await gate.arrived(1);
  // No time passes here, so the row is as it was at the start.
  expect(await row(ref.runId)).toMatchObject({ steps_done: 0, last_seq: 2 });
  time.advance(PROGRESS_LAG_MS);
  await expect.poll(async () => (await row(ref.runId)).steps_done).toBe(3);
  expect(await row(ref.runId)).toMatchObject({ status: 'running', orchestration_phase: 'executing', last_seq: 8 });
});
