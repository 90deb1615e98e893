import { afterAll, beforeAll, expect, test } from 'vitest';
import { seedFirstOwner } from '../domains/identity/bootstrap.ts';
import { setUp } from '../domains/identity/setup.ts';
import { createLogger } from '../platform/logger.ts';
import { MisconfiguredError } from '../platform/postgres/startup-error.ts';
import { testConfig } from '../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../testing/postgres.ts';
import { type Container, createContainer } from './container.ts';

/** Two containers on one database are two nodes; nothing listens at their addresses. */
let db: TestDatabase;
let leader: Container;
let standby: Container;

const open = (port: number, env: Record<string, string> = {}) =>
  createContainer({
    config: testConfig({
      BATON_CLUSTER: 'on',
      BATON_SHARDS: '1',
      DATABASE_URL: db.url,
      BATON_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      PORT: String(port),
      ...env,
    }),
    logger: createLogger('silent'),
    database: db,
  });

beforeAll(async () => {
  db = await createTestDatabase();
  leader = await open(1);
  await leader.ready;
  standby = await open(2);
  await standby.ready;
});
afterAll(async () => {
  await standby?.close();
  await leader?.close();
  await db.close();
});

const get = async (node: Container, path: string) => {
  const response = await node.handle(new Request(`http://x${path}`), { address: '127.0.0.1' });
  return { status: response.status, body: await response.json() };
};

test('a node that stands by is ready, until it has reached no other one for five seconds; the leader needs none', async () => {
  await expect.poll(() => standby.services.cluster?.owner(0)?.id).toBe(leader.services.cluster?.node.id);
  expect(await get(standby, '/readyz')).toEqual({
    status: 200,
    body: { status: 'ready', database: 'migrated', orchestrator: 'standby', members: 2 },
  });
  await expect
    .poll(async () => (await get(standby, '/readyz')).body, { timeout: 15_000 })
    .toMatchObject({ status: 'unavailable', reason: 'This node reaches no other node of the cluster.' });
  // A node of a cluster that cannot serve must not let a rollout go on either.
  expect((await get(standby, '/readyz?role=any')).status).toBe(503);
  await expect.poll(() => leader.services.cluster?.isCutOff(), { timeout: 15_000 }).toBe(true);
  expect(await get(leader, '/readyz')).toMatchObject({ status: 200, body: { orchestrator: 'leading', members: 2 } });
});

test('/healthz returns the id of the node', async () => {
  expect((await get(leader, '/healthz')).body).toEqual({ status: 'ok', node: leader.services.cluster?.node.id });
});

test('a node with another master key or other plans is refused before it writes anything', async () => {
  const other = open(3, { BATON_MASTER_KEY: Buffer.alloc(32, 8).toString('base64') });
  await expect(other).rejects.toThrow(MisconfiguredError);
  await expect(other).rejects.toThrow('another BATON_MASTER_KEY.');
  await expect(open(3, { BATON_URL: 'https://baton.example' })).rejects.toThrow('another BATON_URL.');
  const plans = new URL('../../e2e/fixtures/tiny-plans.json', import.meta.url).pathname;
  const before = await db.pool.query('SELECT count(*) AS count FROM billing_plans');
  await expect(open(3, { BATON_PLANS_FILE: plans })).rejects.toThrow('another BATON_PLANS_FILE.');
  expect((await db.pool.query('SELECT count(*) AS count FROM billing_plans')).rows).toEqual(before.rows);
});

test('the set-up token that one node printed is accepted by another', async () => {
  const [printed, other] = [await seedFirstOwner(leader.services), await seedFirstOwner(standby.services)];
  expect(other).toEqual(printed);
  const token = 'setupToken' in printed ? (printed.setupToken ?? '') : '';
  expect(token).toMatch(/^[\w-]{32}$/);
  const input = { token, email: 'ann@example.com', name: 'Ann', password: 'correct horse battery' };
  expect(await setUp({ services: standby.services } as Parameters<typeof setUp>[0], input)).toMatchObject({
    tenant_id: 'main',
  });
});

test('metrics count the nodes, and show whether a node leads', async () => {
  await expect.poll(async () => (await standby.services.cluster?.members())?.length).toBe(2);
  const config = { BATON_METRICS_TOKEN: 'a-token-for-metrics' };
  const third = await open(4, config);
  try {
    await third.ready;
    const request = new Request('http://x/metrics', { headers: { Authorization: 'Bearer a-token-for-metrics' } });
    const text = await (await third.handle(request, { address: '127.0.0.1' })).text();
    expect(text).toMatch(/^baton_cluster_members 3$/m);
    expect(text).toMatch(/^baton_cluster_led 1$/m);
    expect(text).toMatch(/^baton_orchestrator_leading 0$/m);
  } finally {
    await third.close();
  }
});
