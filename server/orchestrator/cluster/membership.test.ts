import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { systemAlarm, systemClock } from '../../platform/clock.ts';
import { createLogger, type Logger } from '../../platform/logger.ts';
import { MisconfiguredError } from '../../platform/postgres/startup-error.ts';
import { createHarness, type Harness } from '../../testing/engine/runtime.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { type ClusterOptions, joinCluster, LEADER_LOCK, type Membership } from './index.ts';
import { nodeUrlOf } from './member-session.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

const facts = new Map([
  ['BATON_MASTER_KEY', 'k1'],
  ['BATON_URL', ''],
]);
let port = 0;

/** A log that a test reads: one text for each line. */
function lines(): { logger: Logger; lines: string[] } {
  const written: string[] = [];
  const logger = createLogger('silent');
  for (const level of ['info', 'warn', 'error'] as const)
    Reflect.set(logger, level, (_: unknown, message: string) => void written.push(message));
  return { logger, lines: written };
}

/** Joins with an address of its own. Time runs twenty times as fast. */
async function join(options: Partial<ClusterOptions> = {}): Promise<Membership> {
  port += 1;
  const membership = await joinCluster({
    connectionString: db.url,
    url: `http://10.0.0.1:${port}`,
    port: 0,
    leads: true,
    shards: 1,
    version: '1',
    facts,
    clock: systemClock,
    logger: createLogger('silent'),
    alarm: (ms, ring) => systemAlarm(ms / 20, ring),
    elapsed: () => performance.now() * 20,
    probe: async () => 'answers',
    ...options,
  });
  open.push(membership);
  return membership;
}

/** A node with an orchestrator that wants to lead. */
async function node(options: Partial<ClusterOptions> = {}): Promise<Harness & { membership: Membership }> {
  const membership = await join(options);
  const harness = await createHarness(db, { cluster: membership });
  open.push(harness.orchestrator);
  return Object.assign(harness, { membership });
}

const urls = (membership: Membership) =>
  membership
    .members()
    .map(({ url }) => url)
    .sort();
/** Cuts the sessions of a process from the server's side. */
const cut = (id: string, application: string) =>
  db.pool.query(
    `SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
     WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND a.application_name = $2
       AND l.objid = ('x' || right($1, 8))::bit(32)::bigint::oid`,
    [id, application],
  );
const rows = async () => (await db.pool.query<{ id: string }>('SELECT id FROM cluster_nodes')).rows.map(({ id }) => id);

describe('members', () => {
  test('see each other for as long as they are there, and their rows go with them', async () => {
    const [first, second] = [await join(), await join()];
    await expect.poll(() => urls(first)).toEqual([first.node.url, second.node.url].sort());
    expect(second.deploymentId).toBe(first.deploymentId);
    await second.close();
    await expect.poll(() => urls(first)).toEqual([first.node.url]);
    expect(await rows()).toEqual([first.node.id]);
  });

  test('remove the row of one that died without a word', async () => {
    await db.pool.query(`INSERT INTO cluster_nodes VALUES (gen_random_uuid(), 'http://dead', 1, '1', true, now())`);
    const first = await join();
    expect(urls(first)).toEqual([first.node.url]);
    await expect.poll(rows).toEqual([first.node.id]);
  });

  test('come back when their session is lost, also where their row is gone', async () => {
    const [first, second] = [await join(), await join()];
    await expect.poll(() => urls(first)).toHaveLength(2);
    await cut(second.node.id, 'baton-member');
    await db.pool.query('DELETE FROM cluster_nodes WHERE id = $1', [second.node.id]);
    await expect.poll(rows).toContain(second.node.id);
    await expect.poll(() => urls(first)).toHaveLength(2);
    await expect.poll(() => urls(second)).toHaveLength(2);
  });

  test('record themselves again where another one removed their row', async () => {
    const first = await join();
    await db.pool.query('DELETE FROM cluster_nodes');
    await expect.poll(rows).toEqual([first.node.id]);
    await expect.poll(() => urls(first)).toEqual([first.node.url]);
  });

  test.each([
    ['10.1.2.3', 'http://10.1.2.3:4711'],
    ['::ffff:10.1.2.3', 'http://10.1.2.3:4711'],
    ['fd00::5', 'http://[fd00::5]:4711'],
    [undefined, 'http://127.0.0.1:4711'],
  ])('are at the address from which the database is reached: %s', (address, url) => {
    expect(nodeUrlOf(address, 4711)).toBe(url);
  });

  test('have an address without configuration', async () => {
    expect((await join({ url: undefined, port: 4711 })).node.url).toMatch(/^http:\/\/(127\.0\.0\.1|\[::1\]):4711$/);
  });
});

describe('a node is refused', () => {
  test.each([
    ['BATON_MASTER_KEY', new Map(facts).set('BATON_MASTER_KEY', 'k2')],
    ['BATON_URL', new Map(facts).set('BATON_URL', 'https://x')],
    [
      'BATON_MASTER_KEY and another BATON_URL',
      new Map([
        ['BATON_MASTER_KEY', 'k2'],
        ['BATON_URL', 'https://x'],
      ]),
    ],
  ])('with another %s than the others', async (names, other) => {
    await join();
    const refused = join({ facts: other });
    await expect(refused).rejects.toThrow(MisconfiguredError);
    await expect(refused).rejects.toThrow(`they have another ${names}. Set the same`);
  });

  test('at the address of another, after waiting for one that it may replace', async () => {
    const first = await join();
    await expect(join({ url: first.node.url })).rejects.toThrow(/^Another node of the cluster is at http:\/\/10/);
    const replacing = join({ url: first.node.url });
    await first.close();
    expect(urls(await replacing)).toEqual([first.node.url]);
  });

  test('only while another runs: what all of them share may change when all are stopped', async () => {
    const first = await join();
    await first.close();
    const other = new Map(facts).set('BATON_URL', 'https://x');
    const second = await join({ facts: other });
    expect(second.deploymentId).toBe(first.deploymentId);
    await expect(join()).rejects.toThrow('another BATON_URL');
  });
});

describe('the leader', () => {
  test('is known to every node, and never to itself without the lock', async () => {
    const first = await node();
    const second = await node();
    const third = await join({ leads: false });
    const owner = { kind: 'node', id: first.membership.node.id, url: first.membership.node.url };
    expect(first.orchestrator.ownerOf('acme')).toEqual({ kind: 'here' });
    await expect.poll(() => second.orchestrator.ownerOf('acme')).toEqual(owner);
    await expect.poll(() => third.owner(0)?.id).toBe(owner.id);
    expect([second.orchestrator.leads('acme'), second.orchestrator.leadsJobs()]).toEqual([false, false]);
    await first.orchestrator.close();
    // Others may believe it for a moment longer. It knows.
    expect(first.orchestrator.ownerOf('acme')).not.toMatchObject({ kind: 'here' });
    expect(first.orchestrator.ownerOf('acme')).not.toMatchObject({ id: first.membership.node.id });
    await expect.poll(() => second.orchestrator.ownerOf('acme')).toEqual({ kind: 'here' });
    await expect.poll(() => third.owner(0)?.id).toBe(second.membership.node.id);
    await expect.poll(() => first.membership.owner(0)?.id).toBe(second.membership.node.id);
  });

  test('is not sure of itself when it wakes after its lease, before it knows what became of its session', async () => {
    const first = await node();
    expect(first.orchestrator.ownerOf('acme')).toEqual({ kind: 'here' });
    const woken = performance.now() + 10_001;
    const now = vi.spyOn(performance, 'now').mockReturnValue(woken);
    try {
      expect(first.orchestrator.status()).toBe('leading');
      expect(first.orchestrator.ownerOf('acme')).toEqual({ kind: 'unknown' });
      expect([first.orchestrator.leads('acme'), first.orchestrator.leadsJobs()]).toEqual([false, false]);
    } finally {
      now.mockRestore();
    }
    expect(first.orchestrator.ownerOf('acme')).toEqual({ kind: 'here' });
  });

  test('is another one when its session is lost, and is still known when only its membership is', async () => {
    const first = await node();
    const second = await node();
    await expect.poll(() => second.membership.owner(0)?.id).toBe(first.membership.node.id);
    await cut(first.membership.node.id, 'baton-member');
    await expect.poll(async () => urls(second.membership)).toHaveLength(2);
    expect(second.membership.owner(0)?.id).toBe(first.membership.node.id);
    await cut(first.membership.node.id, 'baton-orchestrator');
    const leading = () => [first, second].filter(({ orchestrator }) => orchestrator.leadsJobs());
    await expect.poll(() => leading().length, { timeout: 5_000 }).toBe(1);
    const [leader] = leading();
    await expect.poll(() => first.membership.owner(0)?.id).toBe(leader?.membership.node.id);
    await expect.poll(() => second.membership.owner(0)?.id).toBe(leader?.membership.node.id);
  });

  test('is nobody that other nodes could reach where a process outside of the cluster leads', async () => {
    const alone = await createHarness(db);
    open.push(alone.orchestrator);
    const second = await node();
    expect(second.membership.owner(0)).toBeNull();
    expect(second.orchestrator.ownerOf('acme')).toEqual({ kind: 'unknown' });
  });

  test('is no node that only serves', async () => {
    const second = await node({ leads: false });
    expect(second.orchestrator.status()).toBe('standby');
    const third = await node();
    expect(third.orchestrator.status()).toBe('leading');
  });

  test('is no node whose clock is more than five seconds off, which says so; it may lead when the clock is right', async () => {
    const log = lines();
    let off = -6_000;
    const clock = { now: () => systemClock.now() + off };
    const second = await node({ clock, logger: log.logger });
    expect(second.orchestrator.status()).toBe('standby');
    expect(second.membership.whyNotLead()).toMatch(
      /^The clock of this node is [56]\.\d s behind that of the database\.$/,
    );
    expect(log.lines.filter(line => line.includes('It takes no leadership'))).toHaveLength(1);
    off = 4_000;
    await expect.poll(() => second.orchestrator.status(), { timeout: 5_000 }).toBe('leading');
    expect(log.lines).toContain('the clock is right again');
  });
});

describe('several leaders', () => {
  const SHARDS = 8;
  const tenants = Array.from({ length: 40 }, (_, n) => `team-${n}`);
  const ledBy = ({ orchestrator }: Harness) => tenants.filter(tenant => orchestrator.leads(tenant));
  const isShared = (...nodes: Harness[]) => {
    const led = nodes.map(each => each.orchestrator.shards()).map(shards => (shards === 'all' ? 0 : shards.led.size));
    return led.reduce((sum, each) => sum + each, 0) === SHARDS && Math.max(...led) - Math.min(...led) <= 1;
  };

  test('share the workspaces, hand them over when a node joins, and take those of one that leaves', async () => {
    const first = await node({ shards: SHARDS });
    await expect.poll(() => ledBy(first)).toEqual(tenants);
    const workflows = tenants.map(tenant => first.workflow({ steps: [{ id: 'ask', type: 'human_task' }] }, tenant));
    const refs = await Promise.all(workflows.map(workflow => first.start(workflow)));
    const second = await node({ shards: SHARDS });
    await expect.poll(() => isShared(first, second), { timeout: 20_000 }).toBe(true);
    expect([...ledBy(first), ...ledBy(second)].sort()).toEqual([...tenants].sort());
    const answer = { step: 'ask', approved: true, result: {}, by: 'ann' };
    for (const ref of refs.slice(0, 20)) {
      const [owner, other] = first.orchestrator.leads(ref.tenantId) ? [first, second] : [second, first];
      await expect.poll(() => other.orchestrator.ownerOf(ref.tenantId)).toMatchObject({ id: owner.membership.node.id });
      await expect(other.orchestrator.completeTask(ref, answer)).rejects.toMatchObject({ code: 'not_leading' });
      await owner.orchestrator.completeTask(ref, answer);
      await owner.ended(ref);
    }
    expect([first, second].filter(({ orchestrator }) => orchestrator.leadsJobs())).toHaveLength(1);
    await first.orchestrator.close();
    await first.membership.close();
    await expect.poll(() => ledBy(second), { timeout: 20_000 }).toEqual(tenants);
    for (const ref of refs.slice(20)) {
      await second.orchestrator.completeTask(ref, answer);
      await second.ended(ref);
    }
  });
});

test('the lock of the leader is the one that a process without a cluster takes', async () => {
  const first = await node();
  const { rows: held } = await db.pool.query(
    `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = $1 AND classid = 0 AND granted
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [LEADER_LOCK],
  );
  expect([first.orchestrator.status(), held.length]).toEqual(['leading', 1]);
});
