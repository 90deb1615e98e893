import { expect, test } from 'vitest';
import { OwnPostgres } from '../fixtures/postgres.ts';
import { type ScarceDisk, scarceDisk } from '../fixtures/scarce-disk.ts';
import { rounds, timeoutFor } from './random.ts';
import { Scenario } from './scenario.ts';

/** The maximum number of log lines for one outage of a second or two. An earlier version logged hundreds per second. */
const MAX_LINES = 150;

test(
  'if the disk of the log is full under load, nothing acknowledged is lost, and the service continues once there is space',
  async () => {
    let disk: ScarceDisk | undefined;
    await using postgres = await OwnPostgres.start({
      onFolder: async folder => {
        disk = await scarceDisk(folder);
      },
      onRemove: async () => disk?.remove(),
    });
    if (disk === undefined) throw new Error('no disk');
    const { dataDir } = postgres.cluster;
    process.stdout.write(`faults: the disk is ${disk.method}\n`);
    await using scenario = await Scenario.open('disk', { databaseUrl: postgres.url });
    const load = await scenario.load();
    for (let round = 0; round < 2 * rounds; round++) {
      await load.progress(scenario.random.between(10, 30));
      const announced = scenario.service.lines('"the orchestrator cannot lead"');
      const recovered = scenario.service.lines('"the orchestrator is in order again"');
      const lines = scenario.service.lines();
      await disk.fill(dataDir);
      // The database determines what fails first, an event's row or the WAL, and may even shut down.
      await postgres.exhaust();
      await expect.poll(() => load.refused()).toBe(true);
      expect((await fetch(`${scenario.service.url}/healthz`)).status).toBe(200);
      await scenario.moment(500);
      await disk.free(dataDir);
      await postgres.start();
      await scenario.service.until('ready');
      await load.progress(5);
      // The service repeatedly leads without being able to commit, with increasing delays, and logs each reason once.
      // A small commit may still succeed; the next failure is a new outage.
      const outages = scenario.service.lines('"the orchestrator is in order again"') - recovered + 1;
      expect(scenario.service.lines('"the orchestrator cannot lead"') - announced).toBeLessThanOrEqual(3 * outages);
      expect(scenario.service.lines() - lines).toBeLessThan(MAX_LINES);
    }
    await scenario.settle(load);
    expect(scenario.service.alive).toBe(true);
  },
  timeoutFor(60_000),
);
