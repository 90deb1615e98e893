import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startHttpServer } from '../../server/testing/http-server.ts';
import { createTestDatabase } from '../../server/testing/postgres.ts';
import { rounds, timeoutFor } from './random.ts';
import { Scenario } from './scenario.ts';

const WORK_MS = 2_000;

/** Two seconds of work, long enough to be stopped midway, followed by another step. */
const working = (work: object) => ({
  steps: [
    { id: 'work', ...work },
    { id: 'after', type: 'lua_script', script: 'return steps.work ~= nil', depends_on: ['work'] },
  ],
});
const script = `local t = os.clock(); while os.clock() - t < ${WORK_MS / 1000} do end; return 1`;

/** A server that needs two seconds for each answer. */
async function startSlowServer(): Promise<AsyncDisposable & { url: string }> {
  const { url, close } = await startHttpServer({
    '/': (_, response) => void setTimeout(() => response.end('{}'), WORK_MS),
  });
  return { url: `${url}/`, [Symbol.asyncDispose]: close };
}

test(
  'on SIGTERM under load or during a takeover, steps in progress end and the process exits with 0',
  async () => {
    await using db = await createTestDatabase();
    await using slow = await startSlowServer();
    const env = { BATON_ALLOW_PRIVATE_NETWORK: '127.0.0.1/32' };
    await using scenario = await Scenario.open('terminate', { databaseUrl: db.url, env });
    // One workflow keeps a thread of the service busy, and the other only waits.
    const workflows = [
      await scenario.publish('computing', working({ type: 'lua_script', script })),
      await scenario.publish('asking', working({ type: 'http_request', url: slow.url })),
    ];
    scenario.client.mayDisconnect = true;
    const load = await scenario.load();
    for (let round = 0; round < 2 * rounds; round++) {
      await load.progress(scenario.random.between(10, 30));
      const workflow = workflows[round % workflows.length];
      const params = { run_id: undefined };
      const started = await scenario.client.call('POST', `/v1/workflows/${workflow}/command`, {
        command: 'start',
        params,
      });
      expect(started.status).toBe(200);
      const events = async () =>
        (
          await db.pool.query<{ event_type: string; step_id: string }>(
            'SELECT event_type, step_id FROM run_events WHERE run_id = $1 ORDER BY seq',
            [started.body.run_id],
          )
        ).rows.map(({ event_type, step_id }) => `${event_type} ${step_id}`);
      await expect.poll(events).toContain('step_started work');
      expect(await scenario.service.terminate()).toBe(0);
      // The attempt was given time to end, and no step was started after it.
      const lastEvents = await events();
      expect(lastEvents.filter(event => event.endsWith(' work'))).toEqual(['step_started work', 'step_completed work']);
      expect(lastEvents).not.toContain('step_started after');
      await scenario.relaunch();
      await expect.poll(events).toContain('step_completed after');
    }
    for (let round = 0; round < rounds; round++) {
      const standby = await scenario.installation.launch();
      await standby.until('standby');
      await scenario.service.kill();
      // The stop comes during the second in which the process takes over, whether it has taken over or not.
      await delay(scenario.random.between(0, 1_200));
      const stoppedAt = performance.now();
      expect(await standby.terminate()).toBe(0);
      expect(performance.now() - stoppedAt).toBeLessThan(30_000);
      await scenario.relaunch();
    }
    await scenario.settle(load);
  },
  timeoutFor(110_000),
);
