import { afterEach, expect, test } from 'vitest';
import { readRun } from '../../server/orchestrator/log/index.ts';
import type { StartRun } from '../../server/orchestrator/orchestrator.ts';
import { createTestDatabase, type TestDatabase } from '../../server/platform/postgres/testing.ts';
import { ControlledProcess } from './controlled-process.ts';
import { prepareRuns } from './workload.ts';

const RUNS = 200;
const processes: ControlledProcess[] = [];
async function launch(db: TestDatabase): Promise<ControlledProcess> {
  const launched = await ControlledProcess.start(db.url);
  processes.push(launched);
  return launched;
}
afterEach(async () => {
  for (const one of processes.splice(0)) await one.kill();
});

/** Starts what is not known to be started; adds the acknowledged to `acknowledged`. */
async function startAll(
  service: ControlledProcess,
  runs: readonly StartRun[],
  acknowledged: Set<string>,
): Promise<void> {
  const outstanding = runs.filter(({ runId }) => !acknowledged.has(runId));
  await Promise.all(
    outstanding.map(async run => {
      const outcome = await service.startRun(run);
      // An id taken is a start that was committed and whose answer was lost in a kill.
      if (outcome === 'ok' || outcome === 'run_id_taken') acknowledged.add(run.runId);
      else expect(outcome).toBe('killed');
    }),
  );
}

/** Answers every task that waits; even runs are approved. */
async function answerTasks(db: TestDatabase, service: ControlledProcess, runs: ReadonlyMap<string, StartRun>) {
  const { rows } = await db.pool.query<{ run_id: string; step_id: string }>(
    `SELECT run_id, step_id FROM human_tasks WHERE state = 'pending'`,
  );
  await Promise.all(
    rows.map(async ({ run_id, step_id }) => {
      const run = runs.get(run_id);
      if (run === undefined) throw new Error(`a task of an unknown run ${run_id}`);
      const outcome = await service.complete(run, step_id, Number(run.data.input.n) % 2 === 0);
      if (outcome !== 'ok' && outcome !== 'killed')
        expect(outcome).toMatch(/^(task_already_completed|task_not_pending|run_already_ended)$/);
    }),
  );
}

const unfinished = async (db: TestDatabase) =>
  (await db.pool.query<{ n: number }>('SELECT count(*)::int AS n FROM runs WHERE ended_at IS NULL')).rows[0]?.n;

async function finish(db: TestDatabase, service: ControlledProcess, runs: ReadonlyMap<string, StartRun>) {
  await expect
    .poll(
      async () => {
        await answerTasks(db, service, runs);
        return unfinished(db);
      },
      { timeout: 60_000, interval: 50 },
    )
    .toBe(0);
}

/** How a run ended, without what differs between two executions: times and attempt numbers. */
async function ending(db: TestDatabase, runId: string) {
  const run = await readRun(db.pool, runId);
  if (run === null) return null;
  const steps: Record<string, unknown> = {};
  let status = '';
  let error: unknown = null;
  for (const event of run.events) {
    if (event.type === 'state_changed') {
      status = event.data.to;
      error = event.data.error ?? null;
    }
    if (event.type === 'step_failed' || event.type === 'step_cancelled') steps[event.step] = event.data;
    if (event.type === 'step_completed')
      steps[event.step] = JSON.parse(JSON.stringify(event.data, (key, value) => (key === 'completed_at' ? '' : value)));
  }
  return { status, error, steps };
}

/** engine.md, guarantees 2 and 3, read from the log alone. */
async function expectSound(db: TestDatabase, runId: string): Promise<void> {
  const { rows } = await db.pool.query<{ seq: number; event_type: string; step_id: string | null }>(
    'SELECT seq, event_type, step_id FROM run_events WHERE run_id = $1 ORDER BY seq',
    [runId],
  );
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, index) => index + 1));
  const ends = rows.filter(({ event_type }) => /^step_(completed|failed|cancelled)$/.test(event_type));
  expect(new Set(ends.map(({ step_id }) => step_id)).size).toBe(ends.length);
  const run = await db.pool.query('SELECT steps_total, steps_done, last_seq FROM runs WHERE id = $1', [runId]);
  expect(run.rows[0]).toEqual({ steps_total: ends.length, steps_done: ends.length, last_seq: rows.length });
}

test('kill -9 in the middle of 200 runs, three times: every run ends as if nothing had happened', async () => {
  await using killedDb = await createTestDatabase();
  await using calmDb = await createTestDatabase();
  const killed = await prepareRuns(killedDb.pool, RUNS);
  const calm = await prepareRuns(calmDb.pool, RUNS);
  const byId = new Map(killed.map(run => [run.runId, run]));

  const acknowledged = new Set<string>();
  for (const share of [0.3, 0.7, 1]) {
    const service = await launch(killedDb);
    const due = killed.slice(0, RUNS * share);
    const starts = startAll(service, due, acknowledged);
    // In the midst of it: some are acknowledged, and some of those have ended.
    await expect.poll(() => acknowledged.size, { interval: 1, timeout: 30_000 }).toBeGreaterThan(RUNS * (share - 0.25));
    const answers = answerTasks(killedDb, service, byId);
    if (share === 1)
      await expect.poll(() => unfinished(killedDb), { interval: 1, timeout: 30_000 }).toBeLessThan(RUNS * 0.6);
    await service.kill();
    await Promise.all([starts, answers]);
    const present = await killedDb.pool.query<{ id: string }>('SELECT id FROM runs');
    const ids = new Set(present.rows.map(({ id }) => id));
    expect([...acknowledged].filter(runId => !ids.has(runId))).toEqual([]);
  }
  expect(await unfinished(killedDb)).toBeGreaterThan(0);
  const last = await launch(killedDb);
  await startAll(last, killed, acknowledged);
  await finish(killedDb, last, byId);

  const undisturbed = await launch(calmDb);
  await startAll(undisturbed, calm, new Set());
  await finish(calmDb, undisturbed, new Map(calm.map(run => [run.runId, run])));
  await last.kill();
  await undisturbed.kill();

  for (const [index, run] of killed.entries()) {
    await expectSound(killedDb, run.runId);
    expect(await ending(killedDb, run.runId)).toEqual(await ending(calmDb, calm[index]?.runId ?? ''));
  }
}, 180_000);
