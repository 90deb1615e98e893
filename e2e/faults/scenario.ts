import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { expect } from 'vitest';
import { readRun } from '../../server/orchestrator/log/index.ts';
import { newId } from '../../server/platform/ids.ts';
import { DatabaseClient } from '../../server/platform/postgres/client.ts';
import { clusterUrl, postmaster } from '../../server/platform/postgres/cluster.ts';
import { Installation, type Service } from '../fixtures/service.ts';
import { audit, type Ending, endingOf } from './audit.ts';
import { Client } from './client.ts';
import { approves, graphs, INPUTS } from './graphs.ts';
import { Load } from './load.ts';
import { type Random, seeded } from './random.ts';

/**
 * The endings of undisturbed runs, by `<graph> <n>`. They are the same in every installation: the first scenario of a test file with a load
 * records them before any fault.
 */
let references: ReadonlyMap<string, Ending> | undefined;

/** One installation, with functions that put load on it. */
export class Scenario {
  random: Random;
  client: Client;
  readonly installation: Installation;
  /** The test's own connection to the database, bypassing every proxy. */
  readonly pool: pg.Pool;
  service: Service;
  #workflows: ReadonlyMap<string, string> = new Map();
  readonly #loads: Load[] = [];

  private constructor(of: {
    random: Random;
    installation: Installation;
    service: Service;
    client: Client;
    pool: pg.Pool;
  }) {
    this.random = of.random;
    this.installation = of.installation;
    this.service = of.service;
    this.client = of.client;
    this.pool = of.pool;
  }

  /**
   * `databaseUrl` is the address of the database (or of a proxy) for the service, `directUrl` the address for the test. Without them the
   * service uses its embedded database.
   */
  static async open(
    name: string,
    database: { databaseUrl?: string; directUrl?: string; env?: Record<string, string> } = {},
  ): Promise<Scenario> {
    const { databaseUrl, directUrl = databaseUrl, env = {} } = database;
    const installation = await Installation.create(
      {
        ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
        ...env,
      },
      { cheapPasswords: true },
    );
    const service = await installation.launch();
    try {
      await service.until('ready');
      const client = new Client(service.url, installation.pat);
      const pool = new pg.Pool({
        Client: DatabaseClient,
        connectionString: directUrl ?? (await embeddedUrl(installation)),
        max: 3,
      });
      pool.on('error', () => undefined);
      pool.on('connect', one => one.on('error', () => undefined));
      return new Scenario({ random: seeded(name), installation, service, client, pool });
    } catch (error) {
      await installation[Symbol.asyncDispose]();
      throw error;
    }
  }

  /**
   * Begins another test in this installation, with separate random numbers and a separate client, once the service is ready. Abandons the
   * load that a failed test has left running.
   */
  async begin(name: string): Promise<void> {
    for (const load of this.#loads.splice(0)) load.abandon();
    await this.service.until('ready');
    this.random = seeded(name);
    this.client = new Client(this.service.url, this.installation.pat);
  }

  /** Returns the id of the workflow of one of `graphs`, which the first load publishes. */
  workflow(graph: string): string {
    return this.#workflows.get(graph) ?? '';
  }

  /** Makes clients use this process from now on. */
  serve(service: Service): void {
    this.service = service;
    this.client.url = service.url;
  }

  get port(): number {
    return Number(new URL(this.service.url).port);
  }

  async load(callers?: number): Promise<Load> {
    if (this.#workflows.size === 0) await this.#prepare();
    const load = new Load(this.client, this.#workflows, this.random, callers);
    this.#loads.push(load);
    return load;
  }

  /** Waits for `ms` ± half of it, depending on the seed. */
  async moment(ms: number): Promise<void> {
    await delay(this.random.between(ms / 2, ms * 1.5));
  }

  /** Starts the service again on the same port. Settles when the service is ready. */
  async relaunch(env: Record<string, string> = {}): Promise<Service> {
    this.service = await this.installation.launch(this.port, env);
    await this.service.until('ready');
    return this.service;
  }

  /** Ends the load, waits until every run has ended, and checks that all promises were kept. */
  async settle(load: Load): Promise<void> {
    await load.finish(this.pool).catch((error: Error) => {
      throw new Error(`${error.message}\nThe service wrote:\n${this.service.output()}`, { cause: error });
    });
    await audit(this.pool, load, references ?? new Map());
  }

  /**
   * Expects that, while the database is unavailable, `/healthz` is 200, `/readyz` becomes 503 within seconds, and every request is
   * answered.
   */
  async expectAway(): Promise<void> {
    const { url } = this.service;
    await expect.poll(async () => (await this.service.readyz()).status).toBe(503);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const before = performance.now();
    const asked = await Promise.all([
      this.client.call('GET', '/v1/runs?limit=1'),
      this.client.call('POST', `/v1/workflows/${this.workflow('chain')}/command`, {
        command: 'start',
        // The outcome of this start does not matter, because the run is not part of the load.
        params: { run_id: newId(), n: 0 },
      }),
    ]);
    expect(asked.map(({ status }) => status)).toEqual([503, 503]);
    expect(performance.now() - before).toBeLessThan(15_000);
    expect((await this.service.readyz()).status).toBe(503);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const load of this.#loads) load.abandon();
    await this.pool.end();
    await this.installation[Symbol.asyncDispose]();
  }

  async #prepare(): Promise<void> {
    const workflows = new Map<string, string>();
    for (const [name, graph] of Object.entries(graphs)) workflows.set(name, await this.publish(name, graph));
    this.#workflows = workflows;
    references ??= await this.#undisturbed();
  }

  async publish(name: string, graph: unknown): Promise<string> {
    const created = await this.client.call('POST', '/v1/workflows', { name, graph });
    expect(created).toMatchObject({ status: 201 });
    const id = String(created.body.id);
    expect(await this.client.call('POST', `/v1/workflows/${id}/versions`, { changelog: 'first' })).toMatchObject({
      status: 201,
    });
    return id;
  }

  /** Executes one undisturbed run of each kind, to know how the disturbed runs must end. */
  async #undisturbed(): Promise<Map<string, Ending>> {
    const runs = new Map<string, { runId: string; n: number; workflow: string }>();
    for (const [name, workflow] of this.#workflows)
      for (let n = 0; n < INPUTS; n++) runs.set(`${name} ${n}`, { runId: newId(), n, workflow });
    await Promise.all(
      [...runs.values()].map(async ({ runId, n, workflow }) => {
        const body = { command: 'start', params: { run_id: runId, n } };
        expect((await this.client.call('POST', `/v1/workflows/${workflow}/command`, body)).status).toBe(200);
      }),
    );
    const open = async () => {
      const tasks = await this.pool.query<{ run_id: string; workflow_id: string; n: number }>(
        `SELECT t.run_id, t.workflow_id, (e.data->'input'->>'n')::int AS n
         FROM human_tasks t JOIN run_events e ON e.run_id = t.run_id AND e.seq = 1 WHERE t.state = 'pending'`,
      );
      for (const { run_id, workflow_id, n } of tasks.rows)
        await this.client.call('POST', `/v1/workflows/${workflow_id}/runs/${run_id}/tasks/approve/complete`, {
          approved: approves(n),
          result: { note: 'ok' },
        });
      return (await this.pool.query('SELECT FROM runs WHERE ended_at IS NULL')).rowCount;
    };
    await expect.poll(open).toBe(0);
    const endings = new Map<string, Ending>();
    for (const [kind, { runId }] of runs) endings.set(kind, endingOf((await readRun(this.pool, runId))?.events ?? []));
    return endings;
  }
}

/** Returns the address of the database that a service embeds, from its folder and its password file. */
async function embeddedUrl({ dataDir }: Installation): Promise<string> {
  const running = await postmaster(join(dataDir, 'postgres'));
  if (running === undefined) throw new Error('the service has no database');
  const password = (await readFile(join(dataDir, 'postgres.password'), 'utf8')).trim();
  return clusterUrl(running.listen, password, 'baton');
}
