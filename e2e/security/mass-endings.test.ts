import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { runBaton } from '../../server/testing/commands.ts';
import { createTestDatabase, type TestDatabase } from '../../server/testing/postgres.ts';
import { sign } from '../../server/testing/webhooks.ts';
import type { Client } from '../faults/client.ts';
import { rounds, timeoutFor } from '../faults/random.ts';
import { Installation } from '../fixtures/service.ts';
import { createTenant, honestGraph, latency, publish } from './honest-tenant.ts';
import { MASS_ATTACKS, type MassAttack } from './hostile-attacks.ts';

/**
 * With several rounds (`npm run faults -- e2e/security/mass-endings.test.ts`), every attack has 1,000 runs, and no other test uses the
 * machine. `npm test` makes only the first attack with a few runs, and detects refusals and hangs.
 */
const isLong = rounds > 1;
const RUNS = isLong ? 1_000 : 30;
const WIDTH = isLong ? 1_990 : 300;
/** The number of undisturbed runs of the honest tenant, whose speed is the baseline. */
const SAMPLES = isLong ? 200 : 5;
const WARM_UP = isLong ? 20 : 1;
/** The permitted slowdown of the 95th and 99th percentile, and the difference in ms that is too small to distinguish from noise. */
const MAX_SLOWDOWN = { p95: 3, p99: 5 };
const NOISE_MS = isLong ? 0 : 10_000;
/** The number of concurrent requests of the hostile tenant. */
const AT_ONCE = 32;
/** The maximum duration of a measurement, in ms. */
const MAX_ATTACK_MS = 45_000;
/** The time for which a fork bomb grows before a person stops it, in ms. */
const FORK_MS = 10_000;

const percentile = (samples: readonly number[], share: number): number =>
  samples.toSorted((a, b) => a - b)[Math.min(samples.length - 1, Math.floor(samples.length * share))] ?? 0;

/** Calls `work` for 0 to count - 1, `AT_ONCE` at a time. */
async function inTurns(count: number, work: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

type Attacking = { client: Client; workflow: string; attack: MassAttack };

/** Begins the runs of an attack, which wait until `until`; returns the ids of the accepted runs. */
async function beginAttack({ client, workflow, attack }: Attacking, until: string): Promise<string[]> {
  const begun: string[] = [];
  const self = workflow.split('/').at(-1) ?? '';
  const start = async () => {
    const params = { until, self };
    const { status, body } = await client.call('POST', `${workflow}/command`, { command: 'start', params });
    // The hostile tenant may have used up its share.
    expect([200, 429]).toContain(status);
    if (status === 200) begun.push(String(body.run_id));
  };
  if (attack.begin === 'fork') await start();
  if (attack.begin === 'starts') await inTurns(RUNS, start);
  if (attack.begin !== 'deliveries') return begun;
  const { body: hook } = await client.call('POST', '/v1/inbound-webhooks', { workflow_id: self, name: 'Orders' });
  await inTurns(RUNS, async n => {
    const body = { n };
    const signature = sign(String(hook.signing_secret), JSON.stringify(body));
    const headers = { 'X-Service-Signature': signature };
    const { status, body: answer } = await client.call('POST', String(hook.ingress_path), body, headers);
    expect([202, 429]).toContain(status);
    if (status === 202) begun.push(String(answer.run_id));
  });
  return begun;
}

/** Settles when the hostile tenant has no more active runs, or the deadline has passed. */
async function waitForAttackEnd(db: TestDatabase, deadline: number): Promise<void> {
  const open = `SELECT count(*)::int AS n FROM runs WHERE tenant_id = 'hostile' AND ended_at IS NULL`;
  while (performance.now() < deadline && (await db.pool.query(open)).rows[0].n > 0) await delay(100);
}

/** Makes the attack. Returns the time from which its runs do harm, by performance.now(). */
async function makeAttack(db: TestDatabase, attacking: Attacking): Promise<number> {
  const { client, workflow, attack } = attacking;
  // All runs have started before this time has passed.
  const waitMs = attack.waits ? 1_000 + 25 * RUNS : 0;
  const began = performance.now();
  const begun = await beginAttack(attacking, new Date(Date.now() + waitMs).toISOString());
  const actsFrom = attack.waits ? began + waitMs : attack.approves ? performance.now() : began;
  if (attack.approves)
    await inTurns(begun.length, async n => {
      const task = `${workflow}/runs/${begun[n]}/tasks/ask/complete`;
      expect([200, 429]).toContain((await client.call('POST', task, { approved: true })).status);
    });
  await delay(Math.max(0, actsFrom - performance.now()));
  const until = performance.now() + MAX_ATTACK_MS;
  if (attack.begin === 'fork') await endForkBomb(db, attacking);
  await waitForAttackEnd(db, until);
  return actsFrom;
}

/** Ends a fork bomb while it grows, as the administrator of the workspace and as the operator would. */
async function endForkBomb(db: TestDatabase, { client, workflow }: Attacking): Promise<void> {
  await delay(FORK_MS);
  expect((await client.call('DELETE', workflow)).status).toBe(204);
  const { status, body } = await client.call('POST', '/v1/runs/stop', { filter: {} });
  expect(status).toBe(202);
  const command = ['runs', 'stop', '--workspace', 'hostile', '--wait'];
  const { code, err } = await runBaton(command, { DATABASE_URL: db.url });
  expect([code, err]).toEqual([0, '']);
  const job = await client.call('GET', `/v1/runs/stops/${body.stop_id}`);
  expect(job.body).toMatchObject({ state: 'finished', failed: 0, remaining: 0 });
  const { rows } = await db.pool.query(`SELECT FROM runs WHERE tenant_id = 'hostile' AND ended_at IS NULL`);
  expect(rows).toHaveLength(0);
}

test.each(isLong ? MASS_ATTACKS : MASS_ATTACKS.slice(0, 1))(
  '$name: another tenant is never refused, and its slowdown is bounded',
  async attack => {
    await using db = await createTestDatabase();
    await using installation = await Installation.create({ DATABASE_URL: db.url }, { cheapPasswords: true });
    const service = await installation.launch();
    await service.until('ready');
    const honest = await createTenant(db, service.url, 'honest');
    const honestWorkflow = await publish(honest, 'honest', honestGraph);
    const client = await createTenant(db, service.url, 'hostile');
    const workflow = await publish(client, 'hostile', attack.graph(WIDTH));
    const sample = async () => (await latency(honest, honestWorkflow)).runMs;
    const quiet: number[] = [];
    for (let n = 0; n < WARM_UP; n++) await sample();
    for (let n = 0; n < SAMPLES; n++) quiet.push(await sample());
    let isOver = false;
    const attacked = makeAttack(db, { client, workflow, attack }).finally(() => {
      isOver = true;
    });
    const sampled: { ms: number; at: number }[] = [];
    while (!isOver) sampled.push({ ms: await sample(), at: performance.now() });
    const actsFrom = await attacked;
    const during = sampled.filter(({ at }) => at > actsFrom).map(({ ms }) => ms);
    const shown = [quiet, during].map(
      samples =>
        `${samples.length} runs, p95 ${Math.round(percentile(samples, 0.95))} ms, p99 ${Math.round(percentile(samples, 0.99))} ms`,
    );
    process.stdout.write(`${attack.name}: undisturbed ${shown[0]}; meanwhile ${shown[1]}\n`);
    expect(during.length).toBeGreaterThan(0);
    expect(honest.violations).toEqual([]);
    expect([...honest.answered.keys()].filter(status => status >= 400)).toEqual([]);
    expect(service.alive).toBe(true);
    for (const [share, factor] of [
      [0.95, MAX_SLOWDOWN.p95],
      [0.99, MAX_SLOWDOWN.p99],
    ] as const)
      expect(percentile(during, share), shown.join('; ')).toBeLessThan(
        Math.max(NOISE_MS, factor * percentile(quiet, share)),
      );
  },
  timeoutFor(60_000),
);
