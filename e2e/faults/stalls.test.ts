import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../server/testing/postgres.ts';
import { rounds, timeoutFor } from './random.ts';
import { Scenario } from './scenario.ts';

test(
  'an event loop that is busy, and a process that is stopped, for seconds: late is all that anything is',
  async () => {
    await using db = await createTestDatabase();
    await using scenario = await Scenario.open('stalls', { databaseUrl: db.url });
    const load = await scenario.load();
    for (let round = 0; round < 2 * rounds; round++) {
      await load.progress(scenario.random.between(10, 30));
      if (round % 2 === 0) scenario.service.tell({ kind: 'busy', ms: scenario.random.between(1_500, 3_000) });
      else {
        scenario.service.stall();
        await scenario.moment(2_000);
        scenario.service.wake();
      }
      await scenario.service.until('ready');
    }
    await load.progress(10);
    await scenario.settle(load);
  },
  timeoutFor(30_000),
);

test(
  'a leader stopped for so long that a standby has taken over writes nothing when it wakes',
  async () => {
    await using db = await createTestDatabase();
    await using scenario = await Scenario.open('sleeper', { databaseUrl: db.url });
    scenario.client.mayDisconnect = true;
    scenario.client.mayHang = true;
    const load = await scenario.load();
    for (let round = 0; round < rounds; round++) {
      const standby = await scenario.installation.launch();
      await standby.until('standby');
      await load.progress(scenario.random.between(10, 30));
      const sleeper = scenario.service;
      sleeper.stall();
      await standby.until('ready');
      scenario.serve(standby);
      // The new leader executes the same runs when the old one wakes up with all its timers and answers due.
      await load.progress(10);
      sleeper.wake();
      await sleeper.until('standby');
      await delay(200);
      expect((await standby.readyz()).body.orchestrator).toBe('leading');
      await load.progress(10);
      await sleeper.terminate();
    }
    await scenario.settle(load);
  },
  timeoutFor(60_000),
);
