import pg from 'pg';
import { expect, test } from 'vitest';
import { OwnPostgres } from '../fixtures/postgres.ts';
import { Installation } from '../fixtures/service.ts';
import { TcpProxy } from '../fixtures/tcp-proxy.ts';
import { timeoutFor } from './random.ts';
import { Scenario } from './scenario.ts';

/** Returns one URL for several servers of one cluster, in this order. */
function listOf(...urls: string[]): string {
  const [first = '', ...others] = urls.map(url => new URL(url));
  const hosts = [first, ...others].map(url => (url as URL).host).join(',');
  const { username, password, pathname } = first as URL;
  return `postgres://${username}:${password}@${hosts}${pathname}?target_session_attrs=read-write`;
}

const TOKEN = 'a-token-for-scrapes-of-metrics';

/** Returns the states of the gauge of replication that are 1. */
async function gauge(url: string): Promise<string[]> {
  const answer = await fetch(`${url}/metrics`, { headers: { Authorization: `Bearer ${TOKEN}` } });
  const found = (await answer.text()).matchAll(/^baton_database_replication\{state="(\w+)"\} 1$/gm);
  return [...found].map(([, state]) => String(state));
}

/** Settles when an event was committed on the server at `url`. */
async function firstCommit(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const countEvents = async () =>
    (await client.query<{ n: string }>('SELECT count(*) AS n FROM run_events')).rows[0]?.n;
  try {
    const before = await countEvents();
    await expect.poll(countEvents, { interval: 10 }).not.toBe(before);
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
    await expect.poll(() => service.lines('another server of the database is the primary')).toBe(1);
  },
  timeoutFor(60_000),
);

test(
  'asynchronous replicas: one line, a gauge and /readyz say so; where replication is required, Baton neither starts nor leads',
  async () => {
    await using primary = await OwnPostgres.start();
    await using _standby = await primary.addStandby('b');
    const env = { BATON_METRICS_TOKEN: TOKEN };
    await using scenario = await Scenario.open('asynchronous', { databaseUrl: primary.url, env });
    const { service, installation } = scenario;
    const state = async () => (await service.readyz()).body.replication;
    await expect.poll(state).toBe('async');
    expect(await gauge(service.url)).toEqual(['async']);
    // What a process has written arrives here a moment later.
    await expect.poll(() => service.lines('replication is asynchronous')).toBe(1);

    const refused = await installation.launch(undefined, { BATON_REPLICATION: 'require' });
    expect(await refused.exited()).toBe(1);
    await expect.poll(() => refused.lines()).toBe(1);
    expect(refused.output()).toMatch(/^baton: BATON_REPLICATION is "require" .*\(its replicas are asynchronous\)/);

    await primary.replicateTo('b');
    await expect.poll(state).toBe('sync');
    const strict = await installation.launch(undefined, { BATON_REPLICATION: 'require' });
    await strict.until('standby');
    expect(await service.terminate()).toBe(0);
    await strict.until('ready');
    // The operator of the database falls back to one copy: what is acknowledged now could be lost.
    await primary.replicateTo('');
    const reason = 'The database does not replicate synchronously (BATON_REPLICATION=require).';
    await expect.poll(async () => (await strict.readyz()).body).toMatchObject({ reason, replication: 'async' });
    await expect.poll(() => strict.lines('replication is asynchronous')).toBe(1);
    await primary.replicateTo('b');
    await strict.until('ready');
  },
  timeoutFor(40_000),
);

test(
  'a server that swallows everything, and the network to the primary cut: the service finds the one that can write',
  async () => {
    await using primary = await OwnPostgres.start();
    await using standby = await primary.addStandby('b');
    await primary.replicateTo('b');
    await using nobody = await TcpProxy.start(primary.url);
    await using network = await TcpProxy.start(primary.url);
    nobody.blackhole();
    const databaseUrl = listOf(nobody.url, network.url, standby.url);
    const directUrl = listOf(primary.url, standby.url);
    await using scenario = await Scenario.open('network', { databaseUrl, directUrl });
    const { service } = scenario;
    const load = await scenario.load();
    await load.progress(scenario.random.between(20, 40));
    network.blackhole();
    // Until its operator fences the old primary, its replica is missing there, and it can acknowledge nothing.
    await primary.crash();
    await standby.promote();
    await load.progress(10);
    await service.until('ready');
    await scenario.settle(load);
    expect(service.alive).toBe(true);
  },
  timeoutFor(60_000),
);

test('two servers that accept writes: no process starts on either, and the line names both', async () => {
  await using one = await OwnPostgres.start();
  await using other = await one.addStandby('b');
  await other.promote();
  await using installation = await Installation.create({ DATABASE_URL: listOf(one.url, other.url) });
  const service = await installation.launch();
  expect(await service.exited()).toBe(1);
  await expect.poll(() => service.lines()).toBe(1);
  const [first, second] = [one, other].map(({ url }) => new URL(url).host);
  expect(service.output()).toBe(
    `baton: Two servers in DATABASE_URL accept writes: ${first} and ${second}; stop the one that is no longer the primary\n`,
  );
});
