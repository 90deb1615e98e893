import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { missingForPatroni, PatroniCluster } from '../fixtures/patroni.ts';
import type { Load } from './load.ts';
import { Scenario } from './scenario.ts';

const missing = process.env.BATON_TEST_PATRONI === '1' ? await missingForPatroni() : 'BATON_TEST_PATRONI=1';
if (missing !== undefined) process.stdout.write(`Patroni is left out: there is no ${missing} (docs/testing.md)\n`);

/** Patroni's minimum time to live, and the additional time for finding the new primary and taking over. */
const TTL_MS = 20_000;
const MARGIN_MS = 3_000;

const measured: string[] = [];
afterAll(() => void process.stdout.write(measured.map(line => `${line}\n`).join('')));

/** Returns the maximum time without an acknowledged start, from `injectFault` until `more` further starts. */
async function longestGap(load: Load, injectFault: () => Promise<void>, more = 30): Promise<number> {
  await load.progress(5);
  const goal = load.started + more;
  let [longest, since, seen] = [0, performance.now(), load.started];
  await injectFault();
  while (load.started < goal) {
    await delay(5);
    const now = performance.now();
    longest = Math.max(longest, now - since);
    if (load.started === seen) continue;
    [since, seen] = [now, load.started];
    if (longest > 180_000) throw new Error('nothing is acknowledged');
  }
  return Math.round(longest);
}

test.skipIf(missing !== undefined).each(['proxyUrl', 'listUrl'] as const)(
  'Patroni, through %s: survives kills of PostgreSQL, of the synchronous replica and of the primary’s machine under load',
  async address => {
    await using cluster = await PatroniCluster.start();
    await using scenario = await Scenario.open(`patroni ${address}`, { databaseUrl: cluster[address] });
    const { service } = scenario;
    const load = await scenario.load();

    const replica = await longestGap(load, () => cluster.killPostgres('sync_standby'));
    await cluster.healthy();
    const postgres = await longestGap(load, () => cluster.killPostgres('leader'));
    await cluster.healthy();
    await service.until('ready');
    const machine = await longestGap(load, () => cluster.killMachineOfPrimary());
    await cluster.healthy(2);
    await service.until('ready');
    measured.push(
      `Patroni, ${address}: replica ${replica}, PostgreSQL ${postgres}, machine ${machine} ms of no writes`,
    );

    await load.progress(10);
    await scenario.settle(load);
    expect(service.alive).toBe(true);
    expect(machine).toBeLessThan(TTL_MS + MARGIN_MS);
  },
  600_000,
);
