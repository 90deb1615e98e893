import { expect, test } from 'vitest';
import { readRun } from '../../server/orchestrator/log/index.ts';
import { newId } from '../../server/platform/ids.ts';
import { createTestDatabase } from '../../server/testing/postgres.ts';
import { timeoutFor } from './random.ts';
import { Scenario } from './scenario.ts';

const ITEMS = 40;
const KILLS = 4;

test(
  'SIGKILL of the service between the starts and the ends of called runs: each is started once, and none is lost',
  async () => {
    await using db = await createTestDatabase();
    await using scenario = await Scenario.open('child runs', { databaseUrl: db.url });
    scenario.client.mayDisconnect = true;
    const child = await scenario.publish('called', {
      steps: [
        // The wait makes it last for more than a second on any machine.
        { id: 'pause', type: 'wait', seconds: 0.1 },
        { id: 'double', type: 'lua_script', script: 'return input.n * 2', depends_on: ['pause'] },
      ],
    });
    const middle = await scenario.publish('calls', {
      steps: [{ id: 'call', type: 'call_workflow', workflow_id: child, input: { n: '{{input.n}}' } }],
    });
    const top = await scenario.publish('calls for each', {
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
    const runId = newId();
    const list = Array.from({ length: ITEMS }, (_, index) => index);
    const body = { command: 'start', params: { run_id: runId, list } };
    expect(await scenario.client.call('POST', `/v1/workflows/${top}/command`, body)).toMatchObject({ status: 200 });

    const count = async (sql: string): Promise<number> =>
      (await scenario.pool.query<{ count: number }>(sql, [runId])).rows[0]?.count ?? 0;
    const ended = () =>
      count(`SELECT count(*)::int AS count FROM run_events WHERE run_id = $1 AND event_type = 'child_ended'`);
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
    const called = events.flatMap(event => (event.type === 'child_called' ? [event.data.run_id] : []));
    const over = events.flatMap(event => (event.type === 'child_ended' ? [event.data.run_id] : []));
    expect(called).toHaveLength(ITEMS);
    expect(over.toSorted()).toEqual(called.toSorted());
    // One run for each item at each of the two levels, and all completed.
    const runs = `SELECT count(*)::int AS count FROM child_runs c JOIN runs r ON r.id = c.run_id
                  WHERE r.status = 'completed' AND (c.parent_run_id = $1
                    OR c.parent_run_id IN (SELECT run_id FROM child_runs WHERE parent_run_id = $1))`;
    expect(await count(runs)).toBe(2 * ITEMS);
    expect(await count('SELECT count(*)::int AS count FROM runs WHERE id <> $1 AND ended_at IS NULL')).toBe(0);
    expect(await count('SELECT count(*)::int AS count FROM child_runs WHERE run_id <> $1')).toBe(2 * ITEMS);
    const context = await scenario.client.call('GET', `/v1/workflows/${top}/runs/${runId}/context`);
    const steps = context.body.steps as Record<string, { result: unknown }>;
    expect(steps.each?.result).toEqual({ results: list.map(n => n * 2), failed: 0 });
  },
  timeoutFor(20_000),
);
