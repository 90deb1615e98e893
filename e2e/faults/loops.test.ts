import { expect, test } from 'vitest';
import { readRun } from '../../server/orchestrator/log/index.ts';
import { newId } from '../../server/platform/ids.ts';
import { createTestDatabase } from '../../server/testing/postgres.ts';
import { timeoutFor } from './random.ts';
import { Scenario } from './scenario.ts';

const KILLS = 4;
const LOOP_ITEMS = 60;
const CALL_ITEMS = 40;

/** Work that takes about 1 ms, long enough for a kill to interrupt some executions. */
const WORK = 'local x = 0; for i = 1, 20000 do x = x + i % 7 end;';
const lua = (id: string, script: string, depends_on: string[] = []) => ({ id, type: 'lua_script', script, depends_on });

/** A run that is killed in the middle. */
type Long = {
  workflow: string;
  runId: string;
  /** Returns the number of finished items. */
  done(): Promise<number>;
};

/** Returns the column `count` of the first row of a query about one run. */
async function count(scenario: Scenario, sql: string, runId: string): Promise<number> {
  return (await scenario.pool.query<{ count: number }>(sql, [runId])).rows[0]?.count ?? 0;
}

async function start(scenario: Scenario, workflow: string, params: object): Promise<string> {
  const runId = newId();
  const body = { command: 'start', params: { run_id: runId, ...params } };
  expect(await scenario.client.call('POST', `/v1/workflows/${workflow}/command`, body)).toMatchObject({ status: 200 });
  return runId;
}

async function startLoop(scenario: Scenario): Promise<Long> {
  const workflow = await scenario.publish('long loop', {
    steps: [
      lua('list', `local t = {} for i = 1, ${LOOP_ITEMS} do t[i] = {n = i} end return t`),
      {
        id: 'each',
        type: 'for_each',
        depends_on: ['list'],
        items: 'steps.list.result',
        concurrency: 4,
        // The wait makes the loop last for more than a second on any machine.
        steps: [
          lua('a', `${WORK} return item.n`),
          { id: 'pause', type: 'wait', seconds: 0.1, depends_on: ['a'] },
          lua('b', `${WORK} return {item.n, index, steps.a.result * 2}`, ['a', 'pause']),
        ],
      },
    ],
  });
  const runId = await start(scenario, workflow, {});
  const ended = `SELECT count(*)::int AS count FROM run_events
                 WHERE run_id = $1 AND event_type = 'step_completed' AND step_id LIKE 'each.%'`;
  return { workflow, runId, done: () => count(scenario, ended, runId) };
}

/** Starts a run that calls a run for each item of a list; each called run calls another one. */
async function startCalls(scenario: Scenario): Promise<Long> {
  const child = await scenario.publish('called', {
    steps: [
      // The wait makes the run last for more than a second on any machine.
      { id: 'pause', type: 'wait', seconds: 0.1 },
      { id: 'double', type: 'lua_script', script: 'return input.n * 2', depends_on: ['pause'] },
    ],
  });
  const middle = await scenario.publish('calls', {
    steps: [{ id: 'call', type: 'call_workflow', workflow_id: child, input: { n: '{{input.n}}' } }],
  });
  const workflow = await scenario.publish('calls for each', {
    steps: [
      {
        id: 'each',
        type: 'for_each',
        items: '{{input.list}}',
        concurrency: 4,
        steps: [{ id: 'call', type: 'call_workflow', workflow_id: middle, input: { n: '{{item}}' } }],
      },
    ],
  });
  const runId = await start(scenario, workflow, { list: Array.from({ length: CALL_ITEMS }, (_, index) => index) });
  const ended = `SELECT count(*)::int AS count FROM run_events WHERE run_id = $1 AND event_type = 'child_ended'`;
  return { workflow, runId, done: () => count(scenario, ended, runId) };
}

async function statusOf(scenario: Scenario, { runId }: Long): Promise<string> {
  return (await scenario.pool.query('SELECT status FROM runs WHERE id = $1', [runId])).rows[0].status;
}

async function resultOf(scenario: Scenario, { workflow, runId }: Long): Promise<unknown> {
  const context = await scenario.client.call('GET', `/v1/workflows/${workflow}/runs/${runId}/context`);
  return (context.body.steps as Record<string, { result: unknown }>).each?.result;
}

async function expectEachItemOnce(scenario: Scenario, loop: Long): Promise<void> {
  const { events } = (await readRun(scenario.pool, loop.runId)) ?? { events: [] };
  const ends = events.flatMap(event => (event.type === 'step_completed' ? [event.step] : []));
  const expected = Array.from({ length: LOOP_ITEMS }, (_, index) =>
    ['a', 'pause', 'b'].map(step => `each.${index}.${step}`),
  ).flat();
  expect(ends.toSorted()).toEqual(['list', 'each', ...expected].toSorted());
  const results = Array.from({ length: LOOP_ITEMS }, (_, index) => [index + 1, index, (index + 1) * 2]);
  expect(await resultOf(scenario, loop)).toEqual({ results, failed: 0 });
}

async function expectEachCallOnce(scenario: Scenario, calls: Long): Promise<void> {
  const { runId } = calls;
  const { events } = (await readRun(scenario.pool, runId)) ?? { events: [] };
  const called = events.flatMap(event => (event.type === 'child_called' ? [event.data.run_id] : []));
  const endedIds = events.flatMap(event => (event.type === 'child_ended' ? [event.data.run_id] : []));
  expect(called).toHaveLength(CALL_ITEMS);
  expect(endedIds.toSorted()).toEqual(called.toSorted());
  // Each of the two levels has one run for each item, and all of them are completed.
  const runs = `SELECT count(*)::int AS count FROM child_runs c JOIN runs r ON r.id = c.run_id
                WHERE r.status = 'completed' AND (c.parent_run_id = $1
                  OR c.parent_run_id IN (SELECT run_id FROM child_runs WHERE parent_run_id = $1))`;
  expect(await count(scenario, runs, runId)).toBe(2 * CALL_ITEMS);
  const open = 'SELECT count(*)::int AS count FROM runs WHERE id <> $1 AND ended_at IS NULL';
  expect(await count(scenario, open, runId)).toBe(0);
  const all = 'SELECT count(*)::int AS count FROM child_runs WHERE run_id <> $1';
  expect(await count(scenario, all, runId)).toBe(2 * CALL_ITEMS);
  const results = Array.from({ length: CALL_ITEMS }, (_, n) => n * 2);
  expect(await resultOf(scenario, calls)).toEqual({ results, failed: 0 });
}

test(
  'after repeated SIGKILL of the service during a loop and during called runs, each item has ended once, and each run was started once',
  async () => {
    await using db = await createTestDatabase();
    await using scenario = await Scenario.open('loops', { databaseUrl: db.url });
    scenario.client.mayDisconnect = true;
    const calls = await startCalls(scenario);
    const loop = await startLoop(scenario);
    // Both runs are killed together, because most of the test's cost is the restarts of the service.
    const killsDuring = new Map([loop, calls].map(long => [long, 0]));
    for (let kill = 0; kill < KILLS; kill++) {
      await Promise.all(
        [loop, calls].map(async long => {
          const before = await long.done();
          const hasProgressed = async () =>
            (await long.done()) > before || (await statusOf(scenario, long)) === 'completed';
          await expect.poll(hasProgressed, { interval: 2 }).toBe(true);
        }),
      );
      await scenario.service.kill();
      for (const [long, times] of killsDuring)
        if ((await statusOf(scenario, long)) === 'running') killsDuring.set(long, times + 1);
      await scenario.relaunch();
    }
    expect(Math.min(...killsDuring.values())).toBeGreaterThan(0);
    await expect.poll(() => statusOf(scenario, loop)).toBe('completed');
    await expect.poll(() => statusOf(scenario, calls)).toBe('completed');
    await expectEachItemOnce(scenario, loop);
    await expectEachCallOnce(scenario, calls);
  },
  timeoutFor(20_000),
);
