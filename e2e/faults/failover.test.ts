import pg from 'pg';
import { expect, test } from 'vitest';
import { OwnPostgres } from '../fixtures/postgres.ts';
import { timeoutFor } from './random.ts';
import { Scenario } from './scenario.ts';

/** Returns one URL for several servers of one cluster, in this order. */
function listOf(...urls: string[]): string {
  const [first = '', ...others] = urls.map(url => new URL(url));
  const hosts = [first, ...others].map(url => (url as URL).host).join(',');
  const { username, password, pathname } = first as URL;
  return `postgres://${username}:${password}@${hosts}${pathname}?target_session_attrs=read-write`;
}

/** Settles when an event was committed on the server at `url`. */
async function firstCommit(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const read = async () => (await client.query<{ n: string }>('SELECT count(*) AS n FROM run_events')).rows[0]?.n;
  try {
    const before = await read();
    await expect.poll(read, { interval: 10 }).not.toBe(before);
  } finally {
    await client.end();
  }
}

test(
  'a synchronous primary is killed under load and its standby promoted: nothing is lost, and no process starts again',
  async () => {
    await using primary = await OwnPostgres.start();
    await using standby = await primary.addStandby('b');
    await primary.replicateTo('b');
    // The standby is first in the list: the service finds the primary behind it.
    const databaseUrl = listOf(standby.url, primary.url);
    await using scenario = await Scenario.open('failover', { databaseUrl });
    const { service } = scenario;
    const load = await scenario.load();
    await load.progress(scenario.random.between(20, 60));
    await primary.kill();
    await scenario.expectAway();
    await standby.promote();
    const promoted = performance.now();
    await firstCommit(standby.url);
    const writingAfter = performance.now() - promoted;
    await service.until('ready');
    await load.progress(10);
    await scenario.settle(load);
    expect(writingAfter).toBeLessThan(3_000);
    expect(service.alive).toBe(true);
    expect(service.lines('another server of the database is the primary')).toBe(1);
  },
  timeoutFor(60_000),
);
