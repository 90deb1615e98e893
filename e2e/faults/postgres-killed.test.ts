import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isRunning, openCluster } from '../../server/platform/postgres/cluster.ts';
import { killPostmaster, OwnPostgres } from '../fixtures/postgres.ts';
import { rounds, timeoutFor } from './random.ts';
import { Scenario } from './scenario.ts';

test(
  'PostgreSQL killed and crashed under load, away for a while and back: the service says so, stays up and goes on',
  async () => {
    await using postgres = await OwnPostgres.start();
    await using scenario = await Scenario.open('postgres', { databaseUrl: postgres.url });
    const load = scenario.load();
    for (let round = 0; round < 2 * rounds; round++) {
      await load.progress(scenario.random.between(10, 40));
      if (round % 2 === 0) await postgres.kill();
      else await postgres.crash();
      await scenario.expectAway();
      await postgres.start();
      await scenario.service.until('ready');
    }
    await load.progress(10);
    await scenario.settle(load);
    expect(scenario.service.alive).toBe(true);
  },
  timeoutFor(40_000),
);

test(
  'the embedded PostgreSQL killed under load is brought back by the service itself',
  async () => {
    await using scenario = await Scenario.open('embedded');
    const load = scenario.load();
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
