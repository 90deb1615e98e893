import { expect, test } from 'vitest';
import { newId } from '../../server/platform/ids.ts';
import { createTestDatabase } from '../../server/testing/postgres.ts';
import { timeoutFor } from './random.ts';
import { Scenario } from './scenario.ts';

const RUNS = 60;
const KILLS = 3;

test(
  'each failed run is handled once, despite SIGKILL while the handlers start',
  async () => {
    await using db = await createTestDatabase();
    await using scenario = await Scenario.open('failure handlers', { databaseUrl: db.url });
    scenario.client.mayDisconnect = true;
    const handler = await scenario.publish('handles', {
      steps: [{ id: 'only', type: 'lua_script', script: 'return input.failed_run.run_id' }],
    });
    const failing = await scenario.publish('fails', {
      steps: [{ id: 'only', type: 'lua_script', script: 'error("no")' }],
      on_failure: { workflow_id: handler },
    });
    const ids = Array.from({ length: RUNS }, newId);
    const starts = ids.map(run_id =>
      scenario.client.call('POST', `/v1/workflows/${failing}/command`, { command: 'start', params: { run_id } }),
    );
    for (const { status } of await Promise.all(starts)) expect(status).toBe(200);

    const count = async (sql: string, values: unknown[] = []): Promise<number> =>
      (await scenario.pool.query<{ count: number }>(sql, values)).rows[0]?.count ?? 0;
    const started = () => count('SELECT count(*)::int AS count FROM runs WHERE workflow_id = $1', [handler]);
    const recordedFailures = async () =>
      (await started()) + (await count('SELECT count(*)::int AS count FROM failure_handlers'));
    // The first kill comes when the failures are recorded, the others while the handlers start.
    await expect.poll(recordedFailures, { interval: 2 }).toBeGreaterThan(0);
    await scenario.service.kill();
    await scenario.relaunch();
    for (let kill = 1; kill < KILLS; kill++) {
      const before = await started();
      await expect.poll(async () => (await started()) > before || before === RUNS, { interval: 2 }).toBe(true);
      await scenario.service.kill();
      await scenario.relaunch();
    }

    const ended = `SELECT count(*)::int AS count FROM runs WHERE workflow_id = $1 AND status = 'completed'`;
    await expect.poll(() => count(ended, [handler])).toBe(RUNS);
    await expect.poll(() => count('SELECT count(*)::int AS count FROM failure_handlers')).toBe(0);
    expect(await started()).toBe(RUNS);
    const { rows } = await scenario.pool.query<{ handled: string }>(
      `SELECT e.data->'input'->'failed_run'->>'run_id' AS handled FROM runs r
         JOIN run_events e ON e.run_id = r.id AND e.event_type = 'run_started' WHERE r.workflow_id = $1`,
      [handler],
    );
    expect(rows.map(({ handled }) => handled).sort()).toEqual(ids.toSorted());
  },
  timeoutFor(20_000),
);
