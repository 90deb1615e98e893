import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { newId } from '../../platform/ids.ts';
import { runProjection } from '../../testing/engine/projection.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import type { JsonMap, RunEvent } from '../core/index.ts';
import { DEFAULT_LIMITS } from './commit-queue.ts';
import { encodeEvent } from './encode.ts';
import type { LogEntry } from './entry.ts';
import { AppendError, GroupCommitLog, type LogSession } from './group-commit.ts';
import { readEvents, readPayload, readRun } from './read.ts';
import { commitStatement } from './statement.ts';
import { toWireEvent } from './wire-event.ts';

let db: TestDatabase;
let client: pg.Client;
const session: LogSession = { commit: batch => client.query(commitStatement(batch)) };
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());
beforeEach(async () => {
  // Like the leader's session.
  client = new pg.Client({ connectionString: db.url, pipeline: true });
  client.on('error', () => undefined);
  await client.connect();
});
afterEach(() => client.end());

const AT = Date.UTC(2026, 0, 1);
const TENANT = 'acme';
const PROJECT = newId();

function entry(runId: string, firstSeq: number, events: RunEvent[], more: Partial<LogEntry> = {}): LogEntry {
  const payloads: LogEntry['payloads'][number][] = [];
  const rows = events.map((event, index) => encodeEvent(event, firstSeq + index, payloads));
  const created = {
    tenantId: TENANT,
    projectId: PROJECT,
    workflowId: newId(),
    version: 1,
    sessionId: runId,
    triggerType: 'api',
    startedBy: 'tester',
    startedAt: AT,
    stepsTotal: 1,
  };
  return {
    runId,
    rows,
    payloads,
    projection: runProjection({ lastSeq: firstSeq + events.length - 1 }),
    ...(firstSeq === 1 && { created }),
    tasks: [],
    owner: { tenantId: TENANT, projectId: PROJECT, workflowId: PROJECT },
    startedBy: '',
    usage: [],
    ...more,
  };
}

const startedEvent = (input: JsonMap = {}): RunEvent => ({
  at: AT,
  type: 'run_started',
  data: {
    version: 1,
    input,
    mode: 'normal',
    trigger_type: 'api',
    trigger_steps: {},
    seed_results: {},
    session_id: 's',
    started_by: 'tester',
  },
});
const stepStarted = (step = 'a'): RunEvent => ({ at: AT, type: 'step_started', step, attempt: 1, data: {} });

/** Counts the statements and can delay their answers. */
function countingSession(): LogSession & { statements: number } {
  const wrapper = {
    statements: 0,
    commit(batch: readonly LogEntry[]) {
      wrapper.statements += 1;
      return client.query(commitStatement(batch));
    },
  };
  return wrapper;
}

const never = () => {
  throw new Error('the connection must not be given up');
};
const seqsOf = async (runId: string) =>
  (await readEvents(db.pool, { tenantId: TENANT, runId, after: 0, limit: 100 })).map(({ seq }) => seq);

test('an append settles only after its commit', async () => {
  const log = new GroupCommitLog(session, never);
  const runId = newId();
  // Another transaction that has not ended has inserted the same row, so the statement has to wait for it.
  const other = await db.pool.connect();
  await other.query('BEGIN');
  await other.query(
    `INSERT INTO run_events (run_id, seq, event_type, data, created_at) VALUES ($1, 1, 'run_started', '{}', to_timestamp(0))`,
    [runId],
  );
  let settled = false;
  const append = log.append(entry(runId, 1, [startedEvent()])).then(() => {
    settled = true;
  });
  const blocked = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await expect.poll(async () => (await db.pool.query(blocked)).rows[0].n).toBe(1);
  expect(settled).toBe(false);
  expect(await seqsOf(runId)).toEqual([]);
  await other.query('ROLLBACK');
  other.release();
  await append;
  expect(await seqsOf(runId)).toEqual([1]);
});

test('entries that arrive while a batch is in flight share the next commit', async () => {
  const connection = countingSession();
  const log = new GroupCommitLog(connection, never);
  const first = log.append(entry(newId(), 1, [startedEvent()]));
  const waiting = Promise.withResolvers<void>();
  queueMicrotask(() => queueMicrotask(waiting.resolve));
  await waiting.promise;
  expect(connection.statements).toBe(1);
  const rest = Array.from({ length: 50 }, () => log.append(entry(newId(), 1, [startedEvent(), stepStarted()])));
  await Promise.all([first, ...rest]);
  expect(connection.statements).toBe(2);
});

test('a batch is sent behind one in flight, and is committed even if that one is refused', async () => {
  const connection = countingSession();
  const log = new GroupCommitLog(connection, never);
  const taken = newId();
  const other = await db.pool.connect();
  await other.query('BEGIN');
  await other.query(
    `INSERT INTO run_events (run_id, seq, event_type, data, created_at) VALUES ($1, 1, 'run_started', '{}', to_timestamp(0))`,
    [taken],
  );
  const append = (runId: string) => log.append(entry(runId, 1, [startedEvent(), stepStarted()]));
  const sentNow = () => new Promise(resolve => setImmediate(resolve));
  const beside = newId();
  const first = Promise.allSettled([append(taken), append(beside)]);
  await sentNow();
  const behind = Array.from({ length: DEFAULT_LIMITS.worthEntries }, newId);
  const second = Promise.all(behind.slice(1).map(append));
  await sentNow();
  // Too few entries for a separate commit alongside the first.
  expect(connection.statements).toBe(1);
  const last = append(behind[0] ?? '');
  await sentNow();
  expect(connection.statements).toBe(2);
  const third = Promise.all(Array.from({ length: 50 }, () => append(newId())));
  await sentNow();
  expect(connection.statements).toBe(2);
  await other.query('COMMIT');
  other.release();
  const [fenced, committed] = await first;
  expect(fenced?.status === 'rejected' && fenced.reason.kind).toBe('fenced');
  expect(committed?.status).toBe('fulfilled');
  await Promise.all([second, last, third]);
  for (const runId of [beside, ...behind]) expect(await seqsOf(runId)).toEqual([1, 2]);
});

test('one commit writes events, payloads, the projection and the inbox', async () => {
  const log = new GroupCommitLog(session, never);
  const runId = newId();
  const asked = {
    tenantId: TENANT,
    projectId: PROJECT,
    workflowId: newId(),
    name: 'Approve, "please" {x,y}',
    instructions: 'Line\nbreak',
    form: '{"type":"object"}',
    assignees: ['a@x.org', 'odd "name", with comma'],
    createdAt: AT,
    dueAt: AT + 60_000,
  };
  const task = { step: 'a', state: 'pending' as const, approved: null, completedBy: null, completedAt: null };
  await log.append(entry(runId, 1, [startedEvent({ n: 1 }), stepStarted()], { tasks: [{ ...task, asked }] }));
  const projection = runProjection({
    status: 'failed',
    phase: 'complete',
    stepsDone: 1,
    endedAt: AT + 5,
    error: '{"code":"x","message":"m","step_id":"a"}',
    lastSeq: 3,
    credits: 7,
  });
  const ended = {
    ...task,
    state: 'completed' as const,
    approved: true,
    completedBy: 'ann',
    completedAt: AT,
    asked: null,
  };
  await log.append(entry(runId, 3, [stepStarted('null')], { projection, tasks: [ended] }));
  const run = await db.pool.query('SELECT * FROM runs WHERE id = $1', [runId]);
  expect(run.rows[0]).toMatchObject({
    status: 'failed',
    orchestration_phase: 'complete',
    steps_done: 1,
    last_seq: 3,
    started_at: new Date(AT),
    ended_at: new Date(AT + 5),
    error: { code: 'x', message: 'm', step_id: 'a' },
  });
  const inbox = await db.pool.query('SELECT * FROM human_tasks WHERE run_id = $1', [runId]);
  expect(inbox.rows[0]).toMatchObject({
    step_id: 'a',
    name: asked.name,
    assignees: asked.assignees,
    form: { type: 'object' },
    due_at: new Date(asked.dueAt),
    state: 'completed',
    approved: true,
    completed_by: 'ann',
  });
  // A step may be called "null".
  expect((await readRun(db.pool, runId))?.events[2]).toEqual(stepStarted('null'));
});

test('progress that arrives late does not reset a run to an older state', async () => {
  const log = new GroupCommitLog(session, never);
  const runId = newId();
  await log.append(entry(runId, 1, [startedEvent(), stepStarted()]));
  await log.append({ ...entry(runId, 3, [stepStarted('b')]), created: undefined });
  const late = entry(runId, 1, [startedEvent(), stepStarted()]);
  await log.append({ ...late, rows: [], created: undefined });
  const { rows } = await db.pool.query('SELECT last_seq FROM runs WHERE id = $1', [runId]);
  expect(rows).toEqual([{ last_seq: 3 }]);
});

test('only a bad entry and a fenced one fail: the rest of their batch is committed', async () => {
  const log = new GroupCommitLog(session, never);
  const taken = newId();
  await log.append(entry(taken, 1, [startedEvent()]));
  const good = Array.from({ length: 40 }, newId);
  const bad = newId();
  const runs = [...good.slice(0, 13), bad, ...good.slice(13, 30), taken, ...good.slice(30)];
  const results = await Promise.allSettled(
    runs.map(runId => log.append(entry(runId, 1, [startedEvent(), stepStarted(runId === bad ? 'nul\0' : 'a')]))),
  );
  const failed = results.flatMap((result, index) =>
    result.status === 'rejected' ? [{ runId: runs[index], kind: (result.reason as AppendError).kind }] : [],
  );
  expect(failed).toEqual([
    { runId: bad, kind: 'rejected' },
    { runId: taken, kind: 'fenced' },
  ]);
  for (const runId of good) expect(await seqsOf(runId)).toEqual([1, 2]);
  expect(await seqsOf(bad)).toEqual([]);
  expect(await seqsOf(taken)).toEqual([1]);
});

test('the backlog is limited in rows and in bytes, and calls back when there is room', async () => {
  for (const limits of [
    { ...DEFAULT_LIMITS, queuedRows: 3 },
    { ...DEFAULT_LIMITS, queuedBytes: 1_000 },
  ]) {
    const log = new GroupCommitLog(session, never, limits);
    const appends = [];
    for (; log.hasRoom('acme'); ) appends.push(log.append(entry(newId(), 1, [startedEvent()])));
    expect(appends.length).toBeLessThanOrEqual(3);
    const room = new Promise<void>(resolve => log.onRoom('acme', resolve));
    await room;
    expect(log.hasRoom('acme')).toBe(true);
    await Promise.all(appends);
  }
});

test('entries of callers that waited for room are written', async () => {
  const log = new GroupCommitLog(session, never, { ...DEFAULT_LIMITS, queuedRows: 1 });
  const first = log.append(entry(newId(), 1, [startedEvent()]));
  const second = new Promise<void>((resolve, reject) =>
    log.onRoom('acme', () => log.append(entry(newId(), 1, [startedEvent()])).then(resolve, reject)),
  );
  await first;
  await second;
});

test('a batch is cut at its limits, and drain waits for all of it', async () => {
  const connection = countingSession();
  const log = new GroupCommitLog(connection, never, { ...DEFAULT_LIMITS, batchRows: 10 });
  const runs = Array.from({ length: 25 }, newId);
  for (const runId of runs) void log.append(entry(runId, 1, [startedEvent()]));
  await log.drain();
  expect(connection.statements).toBe(3);
  for (const runId of runs) expect(await seqsOf(runId)).toEqual([1]);
  await log.drain();
});

test('a lost connection refuses the entries in flight, those queued and all later ones', async () => {
  const causes: unknown[] = [];
  const log = new GroupCommitLog(session, cause => causes.push(cause));
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  // Its rejection is handled from the start: it may be refused before the query below is answered.
  const first = log.append(entry(newId(), 1, [startedEvent()])).catch(() => undefined);
  await db.pool.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
  await first;
  const results = await Promise.allSettled([
    log.append(entry(newId(), 1, [startedEvent()])),
    log.append(entry(newId(), 1, [startedEvent()])),
  ]);
  expect(results.map(result => result.status === 'rejected' && result.reason.kind)).toEqual(['lost', 'lost']);
  await expect(log.append(entry(newId(), 1, [startedEvent()]))).rejects.toBeInstanceOf(AppendError);
  expect(causes).toHaveLength(1);
});

test('large values are stored externally once, and are restored when the run is read', async () => {
  const log = new GroupCommitLog(session, never);
  const runId = newId();
  const big = 'ü'.repeat(9_000);
  const done: RunEvent = {
    at: AT + 7,
    type: 'step_completed',
    step: 'a',
    attempt: 1,
    data: { result: { big, zebra: 1, a: 'nul \0 and \ud800 stay', list: [1.5, null, true] } },
  };
  await log.append(entry(runId, 1, [startedEvent({ big }), stepStarted(), done]));
  const page = await readEvents(db.pool, { tenantId: TENANT, runId, after: 2, limit: 10 });
  const shown = page[0];
  if (shown === undefined || shown.event.type !== 'step_completed') throw new Error('no event');
  const data = shown.event.data as unknown as { result_ref: { payload_id: string; bytes: number } };
  const json = JSON.stringify('result' in done.data ? done.data.result : null);
  expect(data).toEqual({ result_ref: { payload_id: expect.any(String), bytes: Buffer.byteLength(json) } });
  const payload = { tenantId: TENANT, runId, payloadId: data.result_ref.payload_id };
  // Exactly as it was written, including the order of its keys.
  expect(JSON.stringify(await readPayload(db.pool, payload))).toBe(json);
  expect(await readPayload(db.pool, { ...payload, tenantId: 'other' })).toBeUndefined();
  expect((await readRun(db.pool, runId))?.events).toEqual([startedEvent({ big }), stepStarted(), done]);
  expect(await readEvents(db.pool, { tenantId: 'other', runId, after: 0, limit: 10 })).toEqual([]);
});

test('16 KiB of JSON stay in the event, one byte more is stored externally', () => {
  for (const [bytes, apart] of [
    [16_384, 0],
    [16_385, 1],
  ] as const) {
    const payloads: LogEntry['payloads'][number][] = [];
    const data = { result: 'x'.repeat(bytes - 2) };
    encodeEvent({ at: AT, type: 'step_completed', step: 'a', attempt: 1, data }, 1, payloads);
    expect(payloads).toHaveLength(apart);
  }
});

test('events are filtered by step and paged by seq', async () => {
  const log = new GroupCommitLog(session, never);
  const runId = newId();
  await log.append(entry(runId, 1, [startedEvent(), stepStarted('a'), stepStarted('b'), stepStarted('a')]));
  const readSeqs = async (more: { after?: number; limit?: number; stepId?: string }) =>
    (await readEvents(db.pool, { tenantId: TENANT, runId, after: 0, limit: 10, ...more })).map(({ seq }) => seq);
  expect(await readSeqs({ after: 2 })).toEqual([3, 4]);
  expect(await readSeqs({ limit: 2 })).toEqual([1, 2]);
  expect(await readSeqs({ stepId: 'a' })).toEqual([2, 4]);
});

test('on the wire times are ISO 8601, also a task’s due_at', () => {
  const place = { seq: 3, runId: newId(), tenantId: TENANT, projectId: PROJECT, workflowId: newId() };
  const data = { name: 'n', instructions: '', form: null, assignees: [], due_at: AT, on_timeout: 'fail' as const };
  const wire = toWireEvent({ ...place, event: { at: AT, type: 'task_pending', step: 'a', attempt: 1, data } });
  expect(wire).toEqual({
    seq: 3,
    event_type: 'task_pending',
    run_id: place.runId,
    workflow_id: place.workflowId,
    step_id: 'a',
    attempt: 1,
    data: { ...data, due_at: '2026-01-01T00:00:00.000Z' },
    created_at: '2026-01-01T00:00:00.000Z',
  });
  const skipped: RunEvent = { at: AT, type: 'step_completed', step: 'a', data: { skipped: true, reason: 'blocked' } };
  expect(toWireEvent({ ...place, event: skipped })).not.toHaveProperty('attempt');
});
