import { expect, test } from 'vitest';
import { startTestMailServer } from '../../server/testing/mail.ts';
import { createTestDatabase } from '../../server/testing/postgres.ts';
import type { Client } from '../faults/client.ts';
import { rounds, timeoutFor } from '../faults/random.ts';
import type { Measurement } from '../fixtures/preload.ts';
import { Installation, type Service } from '../fixtures/service.ts';
import { createTenant, honestGraph, latency, publish, type Sample } from './honest-tenant.ts';
import { ATTACKS, type Attack } from './hostile-attacks.ts';
import { type Attacker, prepare, prepareVictim, REQUEST_ATTACKS, type RequestAttack } from './hostile-requests.ts';

/**
 * The number of runs of the honest tenant before each wave of attacks, while the wave begins, and while its steps and connections hang. The
 * attacks keep the processor busy for as long as they are made. A median needs at least thirty runs: three in each of ten waves.
 */
const SAMPLES = rounds > 1 ? 8 : 3;
/**
 * The promised slowdown, and the difference in ms that is too small to distinguish from the noise of the machine. With several rounds (`npm
 * run faults -- e2e/security/hostile-tenant.test.ts`), no other test uses the machine: the test measures 257 without the low priority of
 * long scripts. `npm test` runs other tests beside it and has measured 243 without any defect: there the test only detects hangs.
 */
const MAX_SLOWDOWN = 3;
const NOISE_MS = rounds > 1 ? 250 : 1_000;
/** While password checks and parsers of YAML keep every core busy, a run may take as long as any other client may wait. */
const MAX_WAIT_MS = 500;
/** The maximum growth of the heap by the caches of the orchestrator (server/orchestrator/cache-limits.ts). */
const MAX_HEAP_GROWTH_BYTES = 160 * 1024 * 1024;
/**
 * The maximum number of new sockets that may stay open: connections of the database pool, and idle connections of
 * clients.
 */
const MAX_SOCKETS_LEFT = 60;
/**
 * The maximum number of emails per hour that all callers together can cause to one address
 * (server/operation/rate-limits.ts).
 */
const MAX_EMAILS = 5;
/** Trusts `X-Forwarded-For`, so that each tenant of this test has a separate address. */
const PROXIED = { BATON_TRUSTED_PROXIES: '1' };

const VICTIM_EMAIL = 'owner@honest.example.com';

async function sample(client: Client, workflow: string): Promise<Sample[]> {
  const found: Sample[] = [];
  for (let n = 0; n < SAMPLES; n++) found.push(await latency(client, workflow));
  return found;
}

/** Attacks that begin together. Waves of one `kind` are measured together. */
type Wave = {
  readonly kind: 'runs' | 'requests' | 'all at once';
  /** Begins the attacks; returns a function that ends them. */
  begin(tenant: HostileTenant): Promise<() => Promise<void>>;
};

class HostileTenant {
  readonly client: Client;
  readonly #attacker: Attacker;
  readonly #workflows = new Map<Attack, string>();

  private constructor(attacker: Attacker) {
    this.client = attacker.client;
    this.#attacker = attacker;
  }

  static async create(attacker: Omit<Attacker, 'prepared'>): Promise<HostileTenant> {
    const tenant = new HostileTenant({ ...attacker, prepared: await prepare(attacker.client) });
    for (const each of ATTACKS) tenant.#workflows.set(each, await publish(tenant.client, each.name, each.graph));
    return tenant;
  }

  /** Starts runs; returns a function that stops them. */
  async startRuns(attacks: readonly Attack[]): Promise<() => Promise<void>> {
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
        // Stopping a run that has already ended is refused.
        expect([200, 409]).toContain((await this.client.call('POST', `${workflow}/command`, stop)).status);
      }
    };
  }

  /** Begins attacks that consist of requests, all at once, and checks the answers. */
  async sendRequests(attacks: readonly RequestAttack[]): Promise<() => Promise<void>> {
    const begun = await Promise.all(attacks.map(each => each.begin(this.#attacker)));
    for (const [index, { name, statuses }] of attacks.entries()) {
      const unexpected = begun[index]?.answered.filter(status => !statuses.includes(status));
      expect(unexpected, name).toEqual([]);
    }
    return async () => {
      await Promise.all(begun.map(({ end }) => end?.()));
    };
  }
}

/** Both kinds at once: the beginning of the wave keeps all cores busy, so this needs a machine without other tests. */
const allAtOnce: Wave = {
  kind: 'all at once',
  async begin(tenant) {
    const begun = await Promise.all([tenant.sendRequests(REQUEST_ATTACKS), tenant.startRuns(ATTACKS)]);
    return async () => {
      await Promise.all(begun.map(end => end()));
    };
  },
};

const waves: readonly Wave[] = [
  ...[...ATTACKS.map(each => [each]), ATTACKS].map(
    (each): Wave => ({
      kind: 'runs',
      begin: tenant => tenant.startRuns(each),
    }),
  ),
  ...REQUEST_ATTACKS.map((each): Wave => ({ kind: 'requests', begin: tenant => tenant.sendRequests([each]) })),
  ...(rounds > 1 ? [allAtOnce] : []),
];

/** Samples of the honest tenant before a wave begins, while it does, and while its steps and connections hang. */
type Measured = { kind: Wave['kind']; before: Sample[]; during: Sample[]; after: Sample[] };

const median = (samples: readonly number[]): number =>
  Math.round(samples.toSorted((a, b) => a - b)[samples.length >> 1] ?? 0);

/** Compares the medians before, during and after the beginning of the attacks of one kind. */
function expectUnimpaired(kind: Wave['kind'], what: keyof Sample, measured: readonly Measured[]): void {
  const medianOf = (phase: 'before' | 'during' | 'after') =>
    median(measured.filter(each => each.kind === kind).flatMap(each => each[phase].map(sample => sample[what])));
  const [before, during, after] = [medianOf('before'), medianOf('during'), medianOf('after')];
  const shown = `${kind}, ${what}: ${before} undisturbed, ${during} while attacks begin, ${after} while they hang`;
  process.stdout.write(`hostile tenants: ${shown}\n`);
  const limit = Math.max(kind === 'all at once' ? MAX_WAIT_MS : NOISE_MS, MAX_SLOWDOWN * before);
  expect(during, shown).toBeLessThan(limit);
  expect(after, shown).toBeLessThan(limit);
}

/** Checks that the process has returned to its state before the attacks. */
async function expectUnchanged(service: Service, before: Measurement): Promise<void> {
  expect(service.alive).toBe(true);
  await expect
    .poll(async () => (await service.measure({ collectGarbage: true })).sockets, { interval: 200 })
    .toBeLessThan(before.sockets + MAX_SOCKETS_LEFT);
  const { heapBytes } = await service.measure({ collectGarbage: true });
  expect(heapBytes - before.heapBytes).toBeLessThan(MAX_HEAP_GROWTH_BYTES);
}

test(
  'hostile tenants slow an honest one down by a factor of three at most',
  async () => {
    await using db = await createTestDatabase();
    await using mail = await startTestMailServer();
    const mailing = { BATON_SMTP_URL: mail.url, BATON_MAIL_FROM: 'baton@example.com' };
    await using installation = await Installation.create({ DATABASE_URL: db.url, ...PROXIED, ...mailing });
    const service = await installation.launch();
    await service.until('ready');
    const honest = await createTenant(db, service.url, 'honest');
    const workflow = await publish(honest, 'honest', honestGraph);
    const victim = await prepareVictim(honest, VICTIM_EMAIL);
    const hostile = await Promise.all(
      ['hostile-1', 'hostile-2'].map(async (slug, n) =>
        HostileTenant.create({
          client: await createTenant(db, service.url, slug),
          address: `203.0.113.${n + 1}`,
          victim,
        }),
      ),
    );
    await sample(honest, workflow);
    const before = await service.measure({ collectGarbage: true });
    const measured: Measured[] = [];
    // Undisturbed samples are taken between the waves, because other processes may keep the machine busy.
    for (let n = 0; n < rounds; n++)
      for (const { kind, begin } of waves) {
        const undisturbed = await sample(honest, workflow);
        const attacks = hostile.map(begin);
        const during = await sample(honest, workflow);
        const begun = await Promise.all(attacks);
        measured.push({ kind, before: undisturbed, during, after: await sample(honest, workflow) });
        await Promise.all(begun.map(end => end()));
      }
    for (const kind of new Set(waves.map(({ kind }) => kind)))
      for (const what of ['runMs', 'readMs'] as const) expectUnimpaired(kind, what, measured);
    for (const { client } of [{ client: honest }, ...hostile]) expect(client.violations).toEqual([]);
    expect(mail.received.filter(({ to }) => to === VICTIM_EMAIL).length).toBeLessThanOrEqual(MAX_EMAILS);
    await expectUnchanged(service, before);
  },
  timeoutFor(600_000),
);
