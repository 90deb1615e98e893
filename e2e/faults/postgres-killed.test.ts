import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { isRunning, openCluster } from '../../server/platform/postgres/cluster.ts';
import { killPostmaster, OwnPostgres } from '../fixtures/postgres.ts';
import { rounds, timeoutFor } from './random.ts';
import { Scenario } from './scenario.ts';

/**
 * Expects that the service attempts no writes while the database refuses them: it is unavailable, logs the reason in
 * one line, and answers reads.
 */
async function expectReadOnly(scenario: Scenario): Promise<void> {
  const { service } = scenario;
  const reason = 'The database is a read-only standby that has not been promoted.';
  await expect.poll(async () => (await service.readyz()).body.reason).toBe(reason);
  const lines = service.lines(reason);
  for (let looks = 0; looks < 15; looks++) {
    const { status, body } = await service.readyz();
    expect([status, body.orchestrator]).toEqual([503, 'unavailable']);
    await delay(100);
  }
  expect(service.lines(reason) - lines).toBeLessThanOrEqual(1);
  expect((await scenario.client.call('GET', '/v1/runs?limit=1')).status).toBe(200);
}

test(
  'the service survives kills, crashes and failovers of PostgreSQL under load, and reports the outages',
  async () => {
    await using postgres = await OwnPostgres.start();
    await using scenario = await Scenario.open('postgres', { databaseUrl: postgres.url });
    const load = await scenario.load();
    for (let round = 0; round < 2 * rounds; round++) {
      await load.progress(scenario.random.between(10, 40));
      if (round % 2 === 0) await postgres.kill();
      else await postgres.crash();
      await scenario.expectAway();
      await postgres.start();
      await scenario.service.until('ready');
    }
    for (let round = 0; round < rounds; round++) {
      await load.progress(scenario.random.between(10, 40));
      await postgres.failOver();
      await expectReadOnly(scenario);
      await postgres.promote();
      await scenario.service.until('ready');
    }
    await load.progress(10);
    await scenario.settle(load);
    expect(scenario.service.alive).toBe(true);
  },
  timeoutFor(40_000),
);

test(
  'the service restarts its embedded PostgreSQL if that is killed under load',
  async () => {
    await using scenario = await Scenario.open('embedded');
    const load = await scenario.load();
    const dataDir = join(scenario.installation.dataDir, 'postgres');
    for (let round = 0; round < rounds; round++) {
      await load.progress(scenario.random.between(10, 40));
      await killPostmaster(dataDir);
      await load.progress(20, 60_000);
    }
    await scenario.service.until('ready');
    await scenario.settle(load);
    expect(await scenario.service.terminate()).toBe(0);
    expect(await isRunning(await openCluster(dataDir))).toBe(false);
  },
  timeoutFor(60_000),
);
