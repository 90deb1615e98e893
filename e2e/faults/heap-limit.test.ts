import { expect, test } from 'vitest';
import { MAX_LOST_ATTEMPTS } from '../../server/orchestrator/core/attempts.ts';
import type { Graph } from '../../server/orchestrator/core/index.ts';
import { newId } from '../../server/platform/ids.ts';
import { createTestDatabase } from '../../server/testing/postgres.ts';
import { Installation, type Service } from '../fixtures/service.ts';
import { Client } from './client.ts';
import { rounds, timeoutFor } from './random.ts';

const RUNS = 10;
const RESULTS = 30;
const HEAP_MIB = 250;
/** Below MAX_LOST_ATTEMPTS, because a script that is executing at every kill must not fail. */
const MAX_KILLS = MAX_LOST_ATTEMPTS - 2;

const makers = Array.from({ length: RESULTS }, (_, n) => `make${n}`);
/** Thirty results of a megabyte each, a human task, and a step that reads one of the results. */
const graph: Graph = {
  steps: [
    ...makers.map(id => ({ id, type: 'lua_script', script: 'return string.rep("x", 1000000)' })),
    { id: 'ask', type: 'human_task', depends_on: makers },
    { id: 'read', type: 'lua_script', depends_on: ['ask'], script: 'return #steps.make7.result' },
  ],
};

async function publish(client: Client): Promise<string> {
  const created = await client.call('POST', '/v1/workflows', { name: 'large results', graph });
  expect(created.status).toBe(201);
  const id = String(created.body.id);
  expect((await client.call('POST', `/v1/workflows/${id}/versions`, { changelog: 'first' })).status).toBe(201);
  return id;
}

test(
  `every run completes with ${RUNS * RESULTS} results of 1 MB in a heap of ${HEAP_MIB} MB, despite kills`,
  async () => {
    await using db = await createTestDatabase();
    const env = { DATABASE_URL: db.url, NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` };
    await using installation = await Installation.create(env, { cheapPasswords: true });
    const count = async (where: string) =>
      Number((await db.pool.query<{ n: string }>(`SELECT count(*) AS n FROM ${where}`)).rows[0]?.n);
    const waitForCount = async (service: Service, where: string, minimum: number) => {
      await expect
        .poll(
          async () => {
            if (!service.alive) throw new Error(`the service died:\n${service.output()}`);
            return count(where);
          },
          { timeout: 120_000, interval: 50 },
        )
        .toBeGreaterThanOrEqual(minimum);
    };
    let service = await installation.launch();
    await service.until('ready');
    const client = new Client(service.url, installation.pat);
    client.mayDisconnect = true;
    const restart = async () => {
      await service.kill();
      service = await installation.launch();
      await service.until('ready');
      client.url = service.url;
    };
    const workflow = await publish(client);
    const start = (run_id: string) =>
      client.call('POST', `/v1/workflows/${workflow}/command`, { command: 'start', params: { run_id } });
    const complete = (runId: string) =>
      client.call('POST', `/v1/workflows/${workflow}/runs/${runId}/tasks/ask/complete`, { approved: true, result: {} });
    /**
     * Completes ten runs while the service is killed `kills` times. `before`: the number of runs that have already
     * ended.
     */
    const runWithKills = async (kills: number, before: number) => {
      const runIds = Array.from({ length: RUNS }, newId);
      expect((await Promise.all(runIds.map(start))).map(({ status }) => status)).toEqual(runIds.map(() => 200));
      for (let kill = 1; kill <= kills; kill++) {
        const made = RESULTS * (before + Math.floor((RUNS * kill) / (kills + 1)));
        await waitForCount(service, 'run_payloads', made);
        await restart();
      }
      await waitForCount(service, `human_tasks WHERE state = 'pending'`, RUNS);
      await restart();
      expect((await Promise.all(runIds.map(complete))).map(({ status }) => status)).toEqual(runIds.map(() => 200));
      await waitForCount(service, `runs WHERE status = 'completed'`, before + RUNS);
      expect(await count(`run_events WHERE step_id = 'read' AND data->>'result' = '1000000'`)).toBe(before + RUNS);
    };
    for (let done = 0; done < rounds; done += MAX_KILLS)
      await runWithKills(Math.min(MAX_KILLS, rounds - done), RUNS * Math.floor(done / MAX_KILLS));
    expect(client.violations).toEqual([]);
  },
  timeoutFor(60_000),
);
