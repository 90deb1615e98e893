import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../server/platform/ids.ts';
import { createTestDatabase, type TestDatabase } from '../../server/testing/postgres.ts';
import { rounds, timeoutFor } from './random.ts';
import { Scenario } from './scenario.ts';

const HOUR_MS = 3_600_000;

/** A step that fails and is retried, and a human task with a time limit of an hour. */
const waiting = {
  steps: [
    { id: 'flaky', type: 'lua_script', script: 'error("no luck")', retry_count: 1, retry_delay_s: 3 },
    { id: 'ask', type: 'human_task', instructions: 'Now?', timeout_s: 3600, on_timeout: 'approve' },
  ],
};
const asking = { steps: [waiting.steps[1]] };

// The tests share one service: each of them starts with a service that leads, at the machine's time.
let db: TestDatabase;
let scenario: Scenario;
beforeAll(async () => {
  db = await createTestDatabase();
  scenario = await Scenario.open('time', { databaseUrl: db.url });
});
afterAll(async () => {
  await scenario?.[Symbol.asyncDispose]();
  await db?.close();
});

test(
  'the clock jumps by hours, forwards and backwards, under load: nothing is stuck, nothing out of order',
  async () => {
    await scenario.begin('clock');
    const load = await scenario.load();
    for (let round = 0; round < 3 * rounds; round++) {
      await load.progress(scenario.random.between(10, 20));
      const hours = scenario.random.between(1, 9) * (round % 2 === 0 ? -1 : 1);
      scenario.service.control({ kind: 'clock', offsetMs: hours * HOUR_MS });
      await load.progress(scenario.random.between(10, 20));
    }
    await scenario.settle(load);
  },
  timeoutFor(30_000),
);

test(
  'a clock that falls back does not delay a retry; one that leaps ahead makes up for the deadlines it passed',
  async () => {
    await scenario.begin('deadlines');
    scenario.service.control({ kind: 'clock', offsetMs: 0 });
    const start = async (graph: unknown): Promise<string> => {
      const workflow = await scenario.publish('w', graph);
      const runId = newId();
      const body = { command: 'start', params: { run_id: runId } };
      expect((await scenario.client.call('POST', `/v1/workflows/${workflow}/command`, body)).status).toBe(200);
      return runId;
    };
    const statusOf = async (runId: string) =>
      (await db.pool.query<{ status: string }>('SELECT status FROM runs WHERE id = $1', [runId])).rows[0]?.status;
    const retrying = async (runId: string) =>
      (await db.pool.query(`SELECT FROM run_events WHERE run_id = $1 AND event_type = 'step_retrying'`, [runId]))
        .rowCount;

    const falling = await start(waiting);
    await expect.poll(() => retrying(falling)).toBe(1);
    scenario.service.control({ kind: 'clock', offsetMs: -3 * HOUR_MS });
    await expect.poll(() => statusOf(falling)).toBe('failed');

    // The process dies while a retry waits, and the next one starts with a clock that is hours
    // behind the times in the log.
    scenario.service.control({ kind: 'clock', offsetMs: 3 * HOUR_MS });
    const restarted = await start(waiting);
    await expect.poll(() => retrying(restarted)).toBe(1);
    await scenario.service.kill();
    await scenario.relaunch();
    await expect.poll(() => statusOf(restarted)).toBe('failed');

    const leaping = await start(asking);
    await expect
      .poll(async () => (await db.pool.query('SELECT FROM human_tasks WHERE run_id = $1', [leaping])).rowCount)
      .toBe(1);
    expect(await statusOf(leaping)).toBe('running');
    scenario.service.control({ kind: 'clock', offsetMs: 2 * HOUR_MS });
    await expect.poll(() => statusOf(leaping)).toBe('completed');
  },
  timeoutFor(60_000),
);

test(
  'an event loop that is busy, and a process that is stopped, for seconds: late is all that anything is',
  async () => {
    await scenario.begin('stalls');
    scenario.service.control({ kind: 'clock', offsetMs: 0 });
    const load = await scenario.load();
    for (let round = 0; round < 2 * rounds; round++) {
      await load.progress(scenario.random.between(10, 30));
      if (round % 2 === 0) scenario.service.control({ kind: 'busy', ms: scenario.random.between(1_500, 3_000) });
      else {
        scenario.service.stall();
        await scenario.moment(2_000);
        scenario.service.wake();
      }
      await scenario.service.until('ready');
    }
    await load.progress(10);
    await scenario.settle(load);
  },
  timeoutFor(30_000),
);

test(
  'a leader stopped for so long that a standby has taken over writes nothing when it wakes',
  async () => {
    await scenario.begin('sleeper');
    scenario.client.mayDisconnect = true;
    scenario.client.mayHang = true;
    const load = await scenario.load();
    for (let round = 0; round < rounds; round++) {
      const standby = await scenario.installation.launch();
      await standby.until('standby');
      await load.progress(scenario.random.between(10, 30));
      const sleeper = scenario.service;
      sleeper.stall();
      await standby.until('ready');
      scenario.serve(standby);
      // The new leader executes the same runs when the old one resumes with all its timers and answers due.
      await load.progress(10);
      sleeper.wake();
      await sleeper.until('standby');
      await delay(200);
      expect((await standby.readyz()).body.orchestrator).toBe('leading');
      await load.progress(10);
      await sleeper.terminate();
    }
    await scenario.settle(load);
  },
  timeoutFor(60_000),
);
