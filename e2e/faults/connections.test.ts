import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { LEADER_LOCK } from '../../server/orchestrator/cluster/locks.ts';
import { createTestDatabase, type TestDatabase } from '../../server/testing/postgres.ts';
import { TcpProxy } from '../fixtures/tcp-proxy.ts';
import { rounds, timeoutFor } from './random.ts';
import { Scenario } from './scenario.ts';
import { Watcher } from './watcher.ts';

const asking = { steps: [{ id: 'ask', type: 'human_task', instructions: 'Well?' }] };

/**
 * Expects that if the answer to the commit that ends a run is lost, watchers of the run and the caller that completed the task still get
 * their answers.
 */
async function expectEndSeen(scenario: Scenario, proxy: TcpProxy): Promise<void> {
  const workflow = await scenario.publish('one question', asking);
  const start = await scenario.client.call('POST', `/v1/workflows/${workflow}/command`, { command: 'start' });
  const runId = String(start.body.run_id);
  const watcher = new Watcher(scenario.client, workflow, runId);
  const seen = () => watcher.seen.map(({ event_type }) => event_type);
  await expect.poll(seen).toContain('task_pending');
  const path = `/v1/workflows/${workflow}/runs/${runId}/tasks/ask/complete`;
  const status = async () =>
    (await scenario.pool.query<{ status: string }>('SELECT status FROM runs WHERE id = $1', [runId])).rows[0]?.status;
  for (let tries = 0; (await status()) !== 'completed'; tries++) {
    expect(tries).toBeLessThan(10);
    proxy.deafen('baton-orchestrator');
    const answered = scenario.client.call('POST', path, { approved: true });
    // If the session was just being checked, the answer to the check is lost, and the commit is not sent.
    await expect
      .poll(status, { timeout: 1_500, interval: 20 })
      .toBe('completed')
      .catch(() => undefined);
    const isCommitted = (await status()) === 'completed';
    proxy.heal();
    const answer = await answered;
    // The commit was sent after the connection recovered, so no answer was lost: try again with another run.
    if (!isCommitted && answer.status === 200) return expectEndSeen(scenario, proxy);
    expect(answer.status).toBe(503);
    await scenario.service.until('ready');
  }
  expect((await scenario.client.call('POST', path, { approved: true })).status).toBe(409);
  await watcher.ended(15_000);
  expect(watcher.isFollowing).toBe(false);
}

// The tests share one service: each of them starts and ends with a service that serves.
let db: TestDatabase;
let proxy: TcpProxy;
let scenario: Scenario;
beforeAll(async () => {
  db = await createTestDatabase();
  proxy = await TcpProxy.start(db.url);
  scenario = await Scenario.open('connections', { databaseUrl: proxy.url, directUrl: db.url });
});
afterAll(async () => {
  await scenario?.[Symbol.asyncDispose]();
  await proxy?.[Symbol.asyncDispose]();
  await db?.close();
});
// A failed test may leave the proxy disturbed.
beforeEach(() => proxy.heal());

/** Returns the backend that holds the leader's lock; null if there is none. */
async function leadingBackend(scenario: Scenario): Promise<number | null> {
  const { rows } = await scenario.pool.query<{ pid: number }>(
    `SELECT pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database
     WHERE locktype = 'advisory' AND objid = $1 AND granted AND datname = current_database()`,
    [LEADER_LOCK],
  );
  return rows[0]?.pid ?? null;
}

test(
  'runs survive database connections that are reset, refused or delayed during commits',
  async () => {
    await scenario.begin('resets');
    const load = await scenario.load();
    for (let round = 0; round < 4 * rounds; round++) {
      await load.progress(scenario.random.between(5, 20));
      // The fault hits a request on its way to the server, an answer on its way back, or the time between two statements.
      proxy.delay(scenario.random.between(0, 30));
      await scenario.moment(100);
      proxy.reset();
      await load.progress(5);
      proxy.heal();
    }
    proxy.refuse();
    proxy.reset();
    await scenario.expectAway();
    proxy.heal();
    await scenario.service.until('ready');
    await load.progress(10);
    await scenario.settle(load);
  },
  timeoutFor(30_000),
);

test(
  'a commit whose answer is lost is neither repeated nor reported twice',
  async () => {
    await scenario.begin('lost answers');
    await expectEndSeen(scenario, proxy);
    const load = await scenario.load();
    for (let round = 0; round < 3 * rounds; round++) {
      await load.progress(scenario.random.between(5, 20));
      proxy.deafen('baton-orchestrator');
      // The next write is committed, but its answer is lost.
      await scenario.moment(200);
      proxy.heal();
      await scenario.service.until('ready');
    }
    await load.progress(10);
    await scenario.settle(load);
  },
  timeoutFor(30_000),
);

test(
  'requests are answered in time while the database hangs, and afterwards the service leads again',
  async () => {
    await scenario.begin('hanging');
    const load = await scenario.load();
    for (let round = 0; round < rounds; round++) {
      await load.progress(scenario.random.between(10, 30));
      proxy.blackhole();
      await scenario.expectAway();
      await scenario.moment(4_000);
      // The earlier connections stay silent: the service itself must detect that they are dead.
      proxy.heal();
      await scenario.service.until('ready');
      await load.progress(5);
      const before = await leadingBackend(scenario);
      // Only the leader's session is silenced; readers continue.
      proxy.silence('baton-orchestrator');
      await expect.poll(() => leadingBackend(scenario)).not.toBeOneOf([before, null]);
      await scenario.service.until('ready');
    }
    await load.progress(10);
    await scenario.settle(load);
    expect(scenario.service.alive).toBe(true);
  },
  timeoutFor(60_000),
);
