import { expect, test } from 'vitest';
import { readRun } from '../../server/orchestrator/log/index.ts';
import { newId } from '../../server/platform/ids.ts';
import { createTestDatabase } from '../../server/testing/postgres.ts';
import { timeoutFor } from './random.ts';
import { Scenario } from './scenario.ts';

const ITEMS = 60;
const KILLS = 4;

/** Takes long enough (about 1 ms) for a kill to hit some of them while they execute. */
const work = 'local x = 0; for i = 1, 20000 do x = x + i % 7 end;';
const lua = (id: string, script: string, depends_on: string[] = []) => ({ id, type: 'lua_script', script, depends_on });

test(
  'SIGKILL of the service in the middle of a loop, again and again: each item ends once, and none is lost',
  async () => {
    await using db = await createTestDatabase();
    await using scenario = await Scenario.open('loops', { databaseUrl: db.url });
    scenario.client.mayDisconnect = true;
    const workflow = await scenario.publish('long loop', {
      steps: [
        lua('list', `local t = {} for i = 1, ${ITEMS} do t[i] = {n = i} end return t`),
        {
          id: 'each',
          type: 'for_each',
          depends_on: ['list'],
          items: 'steps.list.result',
          concurrency: 4,
          // The wait makes the loop last for more than a second on any machine.
          steps: [
            lua('a', `${work} return item.n`),
            { id: 'pause', type: 'wait', seconds: 0.1, depends_on: ['a'] },
            lua('b', `${work} return {item.n, index, steps.a.result * 2}`, ['a', 'pause']),
          ],
        },
      ],
    });
    const runId = newId();
    const body = { command: 'start', params: { run_id: runId } };
    expect(await scenario.client.call('POST', `/v1/workflows/${workflow}/command`, body)).toMatchObject({
      status: 200,
    });

    const ended = async () => {
      const { rows } = await scenario.pool.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM run_events
         WHERE run_id = $1 AND event_type = 'step_completed' AND step_id LIKE 'each.%'`,
        [runId],
      );
      return rows[0]?.count ?? 0;
    };
    const status = async () =>
      (await scenario.pool.query('SELECT status FROM runs WHERE id = $1', [runId])).rows[0].status;
    let within = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const before = await ended();
      await expect
        .poll(async () => (await ended()) > before || (await status()) === 'completed', { interval: 2 })
        .toBe(true);
      await scenario.service.kill();
      if ((await status()) === 'running') within += 1;
      await scenario.relaunch();
    }
    expect(within).toBeGreaterThan(0);
    await expect.poll(status).toBe('completed');

    const { events } = (await readRun(scenario.pool, runId)) ?? { events: [] };
    const ends = events.flatMap(event => (event.type === 'step_completed' ? [event.step] : []));
    const expected = Array.from({ length: ITEMS }, (_, index) =>
      ['a', 'pause', 'b'].map(step => `each.${index}.${step}`),
    ).flat();
    expect(ends.toSorted()).toEqual(['list', 'each', ...expected].toSorted());
    const result = await scenario.client.call('GET', `/v1/workflows/${workflow}/runs/${runId}/context`);
    const steps = result.body.steps as Record<string, { result: unknown }>;
    const results = Array.from({ length: ITEMS }, (_, index) => [index + 1, index, (index + 1) * 2]);
    expect(steps.each?.result).toEqual({ results, failed: 0 });
  },
  timeoutFor(20_000),
);
