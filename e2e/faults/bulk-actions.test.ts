import { expect, test } from 'vitest';
import { newId } from '../../server/platform/ids.ts';
import { createTestDatabase } from '../../server/testing/postgres.ts';
import { timeoutFor } from './random.ts';
import { Scenario } from './scenario.ts';

const RUNS = 40;
const KILLS = 1;

test(
  'after SIGKILL of the service during a bulk rerun, every run has been repeated once',
  async () => {
    await using db = await createTestDatabase();
    await using scenario = await Scenario.open('bulk rerun', { databaseUrl: db.url });
    scenario.client.mayDisconnect = true;
    const steps = [{ id: 'only', type: 'lua_script', script: 'return 1' }];
    const workflow = await scenario.publish('repeats', { steps });
    const ids = Array.from({ length: RUNS }, newId);
    const starts = ids.map(run_id =>
      scenario.client.call('POST', `/v1/workflows/${workflow}/command`, { command: 'start', params: { run_id } }),
    );
    for (const { status } of await Promise.all(starts)) expect(status).toBe(200);
    const count = async (condition: string): Promise<number> =>
      (
        await scenario.pool.query<{ count: number }>(
          `SELECT count(*)::int AS count FROM runs WHERE workflow_id = $1 AND ${condition}`,
          [workflow],
        )
      ).rows[0]?.count ?? 0;
    await expect.poll(() => count(`status = 'completed'`)).toBe(RUNS);

    const filter = { workflow_ids: [workflow] };
    const bulkAnswer = await scenario.client.call('POST', '/v1/runs/bulk', { action: 'rerun', filter });
    expect(bulkAnswer.status).toBe(202);
    for (let kill = 0; kill < KILLS; kill++) {
      const before = await count('rerun_of IS NOT NULL');
      const hasProgressed = async () => (await count('rerun_of IS NOT NULL')) > before || before === RUNS;
      await expect.poll(hasProgressed, { interval: 2 }).toBe(true);
      await scenario.service.kill();
      await scenario.relaunch();
    }

    const finished = async () =>
      (await scenario.pool.query<{ finished: boolean }>('SELECT finished_at IS NOT NULL AS finished FROM run_stops'))
        .rows;
    await expect.poll(finished).toEqual([{ finished: true }]);
    await expect.poll(() => count(`status = 'completed'`)).toBe(2 * RUNS);
    const { rows } = await scenario.pool.query<{ rerun_of: string }>(
      'SELECT rerun_of FROM runs WHERE workflow_id = $1 AND rerun_of IS NOT NULL',
      [workflow],
    );
    expect(rows.map(({ rerun_of }) => rerun_of).sort()).toEqual(ids.toSorted());
  },
  timeoutFor(20_000),
);
