import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { scopes } from '../../server/contract/context.ts';
import { createTestPat, createTestServices, createTestTenant } from '../../server/testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../server/testing/postgres.ts';
import { Client } from '../faults/client.ts';
import { rounds, timeoutFor } from '../faults/random.ts';
import { Installation } from '../fixtures/service.ts';
import { ATTACKS, type Attack } from './hostile-attacks.ts';

/** Runs of the honest tenant before a wave of attacks, while it begins, and while what hangs of it hangs. */
const SAMPLES = 8;
/**
 * The promise; and what is too short to be told apart from the noise of the machine, in ms. With several rounds (`npm run faults
 * -- e2e/security/hostile-tenant.test.ts`) the test has the machine for itself: it measures 257 without the low priority of
 * long scripts. `npm test` runs other tests beside it and has measured 243 with everything in order: there it finds what hangs.
 */
const MAX_SLOWDOWN = 3;
const NOISE_MS = rounds > 1 ? 250 : 1_000;

const honestGraph = {
  steps: [
    { id: 'double', type: 'lua_script', script: 'return input.n * 2' },
    { id: 'check', type: 'condition', expression: 'steps.double.result > 0', depends_on: ['double'] },
    { id: 'end', type: 'lua_script', script: 'return steps.double.result + 1', depends_on: ['check'] },
  ],
};

/** A tenant of the service with a token for everything, and its way to the API. */
async function tenantOf(db: TestDatabase, url: string, slug: string): Promise<Client> {
  const services = createTestServices(db);
  const { owner } = await createTestTenant(services, { slug });
  return new Client(url, (await createTestPat(services, owner, scopes)).token);
}

async function publish(client: Client, name: string, graph: unknown): Promise<string> {
  const { status, body } = await client.call('POST', '/v1/workflows', { name, graph });
  expect([name, status]).toEqual([name, 201]);
  const path = `/v1/workflows/${body.id}`;
  const version = await client.call('POST', `${path}/versions`, { changelog: 'first' });
  expect([name, version.status]).toEqual([name, 201]);
  return path;
}

/** From the start of a run to its end as a client sees it, in ms. */
async function latency(client: Client, workflow: string): Promise<number> {
  const began = performance.now();
  const started = await client.call('POST', `${workflow}/command`, { command: 'start', params: { n: 1 } });
  expect(started.status).toBe(200);
  const summary = `${workflow}/runs/${started.body.run_id}/summary`;
  for (;;) {
    const { body } = await client.call('GET', summary);
    if (body.status === 'completed') return performance.now() - began;
    expect(body.status).toBe('running');
    await delay(3);
  }
}

async function sample(client: Client, workflow: string): Promise<number[]> {
  const found: number[] = [];
  for (let n = 0; n < SAMPLES; n++) found.push(await latency(client, workflow));
  return found;
}

class HostileTenant {
  readonly client: Client;
  readonly #workflows = new Map<Attack, string>();

  private constructor(client: Client) {
    this.client = client;
  }

  static async of(client: Client): Promise<HostileTenant> {
    const tenant = new HostileTenant(client);
    for (const each of ATTACKS) tenant.#workflows.set(each, await publish(client, each.name, each.graph));
    return tenant;
  }

  /** Returns how to stop what it has begun. */
  async begin(attacks: readonly Attack[]): Promise<() => Promise<void>> {
    const begun: { workflow: string; run_id: string }[] = [];
    for (const each of attacks) {
      const workflow = this.#workflows.get(each) ?? '';
      for (let n = 0; n < each.runs; n++) {
        const start = { command: 'start', params: each.params };
        const { status, body } = await this.client.call('POST', `${workflow}/command`, start);
        if (status === 200) begun.push({ workflow, run_id: String(body.run_id) });
        expect([each.name, status]).toEqual([each.name, each.refusedWith ?? 200]);
      }
    }
    return async () => {
      for (const { workflow, run_id } of begun) {
        const stop = { command: 'stop', params: { run_id, mode: 'immediate' } };
        // One that has ended by itself is refused.
        expect([200, 409]).toContain((await this.client.call('POST', `${workflow}/command`, stop)).status);
      }
    };
  }
}

const median = (samples: readonly number[]): number =>
  Math.round(samples.toSorted((a, b) => a - b)[samples.length >> 1] ?? 0);

test(
  'hostile tenants slow an honest one down by a factor of three at most',
  async () => {
    await using db = await createTestDatabase();
    await using installation = await Installation.create({ DATABASE_URL: db.url });
    const service = await installation.launch();
    await service.until('ready');
    const honest = await tenantOf(db, service.url, 'honest');
    const workflow = await publish(honest, 'honest', honestGraph);
    const hostile = await Promise.all(
      ['hostile-1', 'hostile-2'].map(async slug => HostileTenant.of(await tenantOf(db, service.url, slug))),
    );
    await sample(honest, workflow);
    const undisturbed: number[] = [];
    const attacked: number[] = [];
    const hanging: number[] = [];
    // Each alone, and all of them together; undisturbed samples in between, because the machine may be busy elsewhere too.
    const waves = [...ATTACKS.map(each => [each]), ATTACKS];
    for (let n = 0; n < rounds; n++)
      for (const wave of waves) {
        undisturbed.push(...(await sample(honest, workflow)));
        const attacks = hostile.map(tenant => tenant.begin(wave));
        attacked.push(...(await sample(honest, workflow)));
        const begun = await Promise.all(attacks);
        hanging.push(...(await sample(honest, workflow)));
        await Promise.all(begun.map(stop => stop()));
      }
    const [before, during, after] = [undisturbed, attacked, hanging].map(median);
    process.stdout.write(
      `hostile tenants: ${before} ms undisturbed, ${during} ms while they attack, ${after} ms while their steps hang\n`,
    );
    const limit = Math.max(NOISE_MS, MAX_SLOWDOWN * (before ?? 0));
    expect(during).toBeLessThan(limit);
    expect(after).toBeLessThan(limit);
    expect(service.alive).toBe(true);
    for (const { client } of [{ client: honest }, ...hostile]) expect(client.violations).toEqual([]);
  },
  timeoutFor(90_000),
);
