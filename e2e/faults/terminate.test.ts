import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../server/testing/postgres.ts';
import { rounds, timeoutFor } from './random.ts';
import { Scenario } from './scenario.ts';

/** Two seconds of work, long enough to be stopped midway, and another step after it. */
const working = {
  steps: [
    { id: 'work', type: 'lua_script', script: 'local t = os.clock(); while os.clock() - t < 2 do end; return 1' },
    { id: 'after', type: 'lua_script', script: 'return steps.work.result', depends_on: ['work'] },
  ],
};

test(
  'SIGTERM in the middle of load and of a takeover: what is in flight ends, the exit code is 0, and the next process goes on',
  async () => {
    await using db = await createTestDatabase();
    await using scenario = await Scenario.open('terminate', { databaseUrl: db.url });
    const workflow = await scenario.publish('working', working);
    scenario.client.mayDisconnect = true;
    const load = await scenario.load();
    for (let round = 0; round < 2 * rounds; round++) {
      await load.progress(scenario.random.between(10, 30));
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
      // Its attempt was given time to end, and nothing was started after it.
      const left = await events();
      expect(left.filter(event => event.endsWith(' work'))).toEqual(['step_started work', 'step_completed work']);
      expect(left).not.toContain('step_started after');
      await scenario.relaunch();
      await expect.poll(events).toContain('step_completed after');
    }
    for (let round = 0; round < rounds; round++) {
      const standby = await scenario.installation.launch();
      await standby.until('standby');
      await scenario.service.kill();
      // During the second in which it takes over, which it may or may not have done.
      await delay(scenario.random.between(0, 1_200));
      const told = performance.now();
      expect(await standby.terminate()).toBe(0);
      expect(performance.now() - told).toBeLessThan(30_000);
      await scenario.relaunch();
    }
    await scenario.settle(load);
  },
  timeoutFor(110_000),
);
