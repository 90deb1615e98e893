import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../platform/ids.ts';
import { createHarness, type Harness, humanTask } from '../../testing/engine/runtime.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { readRunsToFold } from './read-to-fold.ts';

let db: TestDatabase;
let harness: Harness;
beforeAll(async () => {
  db = await createTestDatabase();
  harness = await createHarness(db, { types: [humanTask] });
});
afterAll(async () => {
  await harness.orchestrator.close();
  await db.close();
});

/** Starts runs that wait for people, each with an input of this many characters; returns their ids in order. */
async function waitingRuns(count: number, characters = 0): Promise<string[]> {
  const workflow = harness.workflow({ steps: [{ id: 'ask', type: 'human_task' }] });
  const input = { text: 'x'.repeat(characters) };
  const runs = await Promise.all(Array.from({ length: count }, () => harness.start(workflow, { input })));
  await Promise.all(runs.map(run => harness.until(run, event => event.type === 'task_pending')));
  return runs.map(({ runId }) => runId).sort();
}

const readRuns = (runIds: readonly string[], maxBytes = 1_000_000, pool: Pool = db.pool) =>
  readRunsToFold(pool, runIds, { maxBytes });

test('a run with a row that cannot be decoded, or without its payload, does not affect those read with it', async () => {
  const [good, bad, without] = (await waitingRuns(3, 20_000)) as [string, string, string];
  await db.pool.query(`UPDATE run_events SET created_at = 'infinity' WHERE run_id = $1 AND seq = 2`, [bad]);
  await db.pool.query('DELETE FROM run_payloads WHERE run_id = $1', [without]);
  const { runs, left } = await readRuns([good, bad, without, newId()]);
  expect(left).toEqual([]);
  expect([...runs].map(([runId, { ok }]) => [runId, ok]).sort()).toEqual(
    [
      [good, true],
      [bad, false],
      [without, false],
    ].sort(),
  );
  const found = runs.get(good);
  expect(found?.ok && found.run.events.map(({ type }) => type)).toEqual([
    'run_started',
    'step_started',
    'task_pending',
  ]);
});

test('a run that the database refuses to read does not affect those read with it', async () => {
  const runIds = await waitingRuns(5);
  const refused = runIds[3] ?? '';
  const corrupt = {
    query: (query: { values: unknown[] }) => {
      if (JSON.stringify(query.values).includes(refused))
        return Promise.reject(Object.assign(new Error('invalid page in block 7'), { code: 'XX001' }));
      return db.pool.query(query as never);
    },
  } as unknown as Pool;
  const { runs } = await readRuns(runIds, 1_000_000, corrupt);
  expect(runIds.map(runId => runs.get(runId)?.ok)).toEqual([true, true, true, false, true]);
});

test('an unreachable database is not the fault of any run', async () => {
  const away = { query: () => Promise.reject(new Error('Connection terminated unexpectedly')) } as unknown as Pool;
  await expect(readRuns([newId(), newId()], 1, away)).rejects.toThrow('Connection terminated');
});

test('runs are read up to the limit in bytes; a single run is read whole', async () => {
  const runIds = await waitingRuns(3, 10_000);
  const [first = '', ...others] = runIds;
  const part = await readRuns(runIds, 10_000);
  expect([[...part.runs.keys()], part.left]).toEqual([[first], others]);
  expect((await readRuns(runIds, 20_100)).left).toEqual([runIds[2]]);
  expect((await readRuns(runIds, 100_000)).left).toEqual([]);
});

test('a skeleton has every event and no large value', async () => {
  const [runId = ''] = await waitingRuns(1, 10_000);
  const { runs } = await readRunsToFold(db.pool, [runId], { maxBytes: 1, skeleton: true });
  const found = runs.get(runId);
  const events = found?.ok ? found.run.events : [];
  expect(events.map(({ type }) => type)).toEqual(['run_started', 'step_started', 'task_pending']);
  expect(events[0]?.data).toMatchObject({ input: {}, trigger_steps: {}, version: 1 });
});

test('a large read is announced before it is parsed', async () => {
  const runIds = await waitingRuns(80, 14_000);
  let announced = 0;
  const onLarge = async () => {
    announced += 1;
  };
  await readRunsToFold(db.pool, runIds.slice(0, 10), { maxBytes: 10_000_000, onLarge });
  expect(announced).toBe(0);
  await readRunsToFold(db.pool, runIds, { maxBytes: 10_000_000, onLarge });
  expect(announced).toBe(1);
});
