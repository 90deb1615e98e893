import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ManualClock } from '../../../platform/clock.ts';
import { createHarness, Gate, type Harness } from '../../../testing/engine/runtime.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import { MAX_LOST_ATTEMPTS } from '../../core/attempts.ts';
import { createLogReader } from '../../log/index.ts';
import type { RunRef } from '../../ports/orchestrator.ts';
import { ALL_SHARDS } from '../../shards/slot.ts';
import { recoverRuns } from '../runs/recovery.ts';
import { Runtime } from '../runtime.ts';
import { createLeaderTerms } from './leader-terms.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());
const open = new Set<Harness>();
async function harness(gate: Gate): Promise<Harness> {
  const made = await createHarness(db, { types: [gate.type] });
  open.add(made);
  return made;
}
async function close(h: Harness): Promise<void> {
  open.delete(h);
  await h.orchestrator.close();
}
afterEach(async () => {
  for (const h of open) await close(h);
});

const completed = { kind: 'completed', result: null } as const;
const start = (h: Harness) => h.start(h.workflow({ steps: [{ id: 'a', type: 'gate' }] }));
/** The state that a killed process leaves: nothing records that it survived its term. */
const forgetSurvival = () => db.pool.query('UPDATE leader_terms SET survived_at = NULL');
const cutLeader = () =>
  db.pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_locks
     WHERE locktype = 'advisory' AND granted AND pid <> pg_backend_pid()
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );

async function finish(h: Harness, ref: RunRef, gate: Gate): Promise<void> {
  gate.waiting.at(-1)?.settle(completed);
  await h.ended(ref);
  expect((await h.events(ref)).at(-1)?.event).toMatchObject({ type: 'state_changed', data: { to: 'completed' } });
}

test('a step is started again after any number of shutdowns', async () => {
  const gate = new Gate();
  let h = await harness(gate);
  const ref = await start(h);
  for (let deployment = 1; deployment <= MAX_LOST_ATTEMPTS + 2; deployment++) {
    await gate.arrived(deployment);
    await close(h);
    h = await harness(gate);
  }
  await gate.arrived(MAX_LOST_ATTEMPTS + 3);
  await finish(h, ref, gate);
  const terms = (await h.events(ref)).flatMap(({ event }) => (event.type === 'step_started' ? [event.data.term] : []));
  expect(new Set(terms).size).toBe(MAX_LOST_ATTEMPTS + 3);
});

test('a step during which the process died repeatedly fails, even with shutdowns in between', async () => {
  const gate = new Gate();
  let h = await harness(gate);
  const ref = await start(h);
  for (let attempt = 1; attempt < 2 * MAX_LOST_ATTEMPTS; attempt++) {
    await gate.arrived(attempt);
    const died = attempt % 2 === 1;
    const [term] = (await db.pool.query('SELECT max(term) AS term FROM leader_terms')).rows;
    await close(h);
    if (died) await db.pool.query('UPDATE leader_terms SET survived_at = NULL WHERE term = $1', [term?.term]);
    h = await harness(gate);
  }
  await h.ended(ref);
  expect(gate.waiting).toHaveLength(2 * MAX_LOST_ATTEMPTS - 1);
  expect((await h.events(ref)).find(({ event }) => event.type === 'step_failed')?.event).toMatchObject({
    data: { error: { code: 'attempt_lost_repeatedly' } },
  });
});

test('a step is started again each time that its process loses the leadership and regains it', async () => {
  const gate = new Gate();
  const h = await harness(gate);
  const ref = await start(h);
  for (let loss = 1; loss <= MAX_LOST_ATTEMPTS + 1; loss++) {
    await gate.arrived(loss);
    await cutLeader();
  }
  await gate.arrived(MAX_LOST_ATTEMPTS + 2);
  await expect.poll(() => h.orchestrator.status()).toBe('leading');
  await finish(h, ref, gate);
});

test('a paused run whose work was interrupted is shown as paused, and not as draining', async () => {
  const gate = new Gate();
  const before = await harness(gate);
  const ref = await start(before);
  await gate.arrived(1);
  const pause = { type: 'pause', by: 'ann' } as const;
  expect(await before.orchestrator.command(ref, pause)).toMatchObject({ status: 'paused', phase: 'draining' });
  await close(before);
  const after = await harness(gate);
  await after.orchestrator.recovered;
  const row = async () => {
    const columns = 'status, orchestration_phase AS phase, steps_done, last_seq';
    return (await db.pool.query(`SELECT ${columns} FROM runs WHERE id = $1`, [ref.runId])).rows[0];
  };
  await expect.poll(row).toEqual({ status: 'paused', phase: 'paused', steps_done: 0, last_seq: 3 });
  await expect.poll(() => after.orchestrator.liveRuns).toBe(0);
  expect(await after.orchestrator.command(ref, pause)).toMatchObject({ phase: 'paused' });
  expect(gate.waiting).toHaveLength(1);
  await after.orchestrator.command(ref, { type: 'resume', by: 'ann' });
  await gate.arrived(2);
  expect(await after.orchestrator.command(ref, pause)).toMatchObject({ phase: 'draining' });
  await finish(after, ref, gate);
});

test('a step that five processes leave by shutdowns is begun again by one whose term is older than theirs', async () => {
  const [gate, gateOfOld] = [new Gate(), new Gate()];
  let runtime: Runtime | undefined;
  const signal = new AbortController().signal;
  // Both lead, and only the one may take what the others leave.
  const old = await createHarness(db, {
    lock: 1,
    types: [gateOfOld.type],
    ports: {
      createRuntime: (services, session) => {
        runtime = new Runtime(services, session, () => expect.fail('the session is lost'));
        return runtime;
      },
    },
  });
  open.add(old);
  await old.orchestrator.recovered;
  let h = await harness(gate);
  const ref = await start(h);
  for (let deployment = 1; deployment <= MAX_LOST_ATTEMPTS + 2; deployment++) {
    await gate.arrived(deployment);
    await close(h);
    if (deployment <= MAX_LOST_ATTEMPTS + 1) h = await harness(gate);
  }
  if (runtime === undefined) throw new Error('it does not lead');
  const terms = createLeaderTerms(db.pool, new ManualClock());
  await recoverRuns({ reader: createLogReader(db.pool), terms, runtime, shards: ALL_SHARDS, signal });
  await gateOfOld.arrived(1);
  await finish(old, ref, gateOfOld);
});

test('a process that stands by records that it has survived, and later terms count that', async () => {
  const clock = new ManualClock();
  const [first, second] = [createLeaderTerms(db.pool, clock), createLeaderTerms(db.pool, clock)];
  const before = await first.begin();
  expect(before.survived.has(before.term)).toBe(true);
  const after = await second.begin();
  expect(after.survived.has(before.term)).toBe(false);
  await first.survive();
  const third = await createLeaderTerms(db.pool, clock).begin();
  expect(third.survived.has(before.term)).toBe(true);
  expect(third.survived.has(after.term)).toBe(false);
  await forgetSurvival();
  // Nothing is left to record, so the database is not asked.
  await first.survive();
  expect((await createLeaderTerms(db.pool, clock).begin()).survived.has(before.term)).toBe(false);
});

test('a statement that the database executes late says nothing of the term that has begun meanwhile', async () => {
  const clock = new ManualClock();
  const late: (() => void)[] = [];
  const held = { isHeld: false };
  const pool = Object.assign(Object.create(db.pool) as typeof db.pool, {
    query: async (...args: [string, unknown[]]) => {
      if (held.isHeld) await new Promise<void>(resolve => late.push(resolve));
      return await db.pool.query(...args);
    },
  });
  const terms = createLeaderTerms(pool, clock);
  const first = await terms.begin();
  held.isHeld = true;
  const overtaken = [terms.survive(), terms.begin()];
  held.isHeld = false;
  const current = await terms.begin();
  for (const execute of late) execute();
  await Promise.all(overtaken);
  const next = await createLeaderTerms(db.pool, clock).begin();
  expect(next.survived.has(first.term)).toBe(true);
  expect(next.survived.has(current.term)).toBe(false);
});

test('only the latest terms are kept', async () => {
  const terms = createLeaderTerms(db.pool, new ManualClock());
  const { term } = await terms.begin();
  await db.pool.query("SELECT setval(pg_get_serial_sequence('leader_terms', 'term'), $1)", [term + 9_999]);
  await createLeaderTerms(db.pool, new ManualClock()).begin();
  const { rows } = await db.pool.query('SELECT count(*)::int AS count FROM leader_terms WHERE term <= $1', [term]);
  expect(rows).toEqual([{ count: 0 }]);
});
