import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../server/testing/postgres.ts';
import { killCluster } from '../fixtures/postgres.ts';
import { rounds, timeoutFor } from './random.ts';
import { Scenario } from './scenario.ts';

test(
  'after repeated SIGKILL under load, acknowledged writes exist and every run ends like an undisturbed one',
  async () => {
    await using db = await createTestDatabase();
    await using scenario = await Scenario.open('kill', { databaseUrl: db.url });
    scenario.client.mayDisconnect = true;
    const load = await scenario.load();
    // Three kills in a row cannot make a step fail, which takes five lost attempts.
    for (let round = 0; round < 3 * rounds; round++) {
      await load.progress(scenario.random.between(10, 40));
      await scenario.service.kill();
      await scenario.relaunch();
    }
    await load.progress(10);
    await scenario.settle(load);
    // The undisturbed runs end in every way, or comparing the endings would prove little.
    const { rows } = await db.pool.query('SELECT DISTINCT status FROM runs ORDER BY status');
    expect(rows.map(({ status }) => status)).toEqual(['completed', 'failed', 'stopped']);
  },
  timeoutFor(20_000),
);

test(
  'the service starts after SIGKILL of itself and of PostgreSQL, even if the lock files name a live process',
  async () => {
    await using scenario = await Scenario.open('group');
    scenario.client.mayDisconnect = true;
    const load = await scenario.load();
    for (let round = 0; round < 2 * rounds; round++) {
      await load.progress(scenario.random.between(10, 40));
      await scenario.service.kill();
      const dataDir = join(scenario.installation.dataDir, 'postgres');
      const endOther = await killCluster(dataDir, round % 2 === 0 ? 'zombie' : 'process');
      await scenario.relaunch().finally(endOther);
    }
    await load.progress(10);
    await scenario.settle(load);
    expect(await scenario.service.terminate()).toBe(0);
  },
  timeoutFor(40_000),
);
