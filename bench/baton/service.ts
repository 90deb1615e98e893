import pg from 'pg';
import { insertWorkflow } from '../../server/domains/workflows/store.ts';
import { insertVersion } from '../../server/domains/workflows/versions/queries.ts';
import type { Graph, RunStartedData } from '../../server/orchestrator/core/index.ts';
import { LuaPool } from '../../server/orchestrator/languages/lua/index.ts';
import type { RunRef, StreamItem } from '../../server/orchestrator/ports/orchestrator.ts';
import type { EmbeddedOrchestrator } from '../../server/orchestrator/runtime/index.ts';
import { systemClock } from '../../server/platform/clock.ts';
import { newId } from '../../server/platform/ids.ts';
import { createLogger } from '../../server/platform/logger.ts';
import type { PrismaClient } from '../../server/platform/postgres/generated/client.ts';
import { migrate } from '../../server/platform/postgres/migrate.ts';
import { ensurePartitions } from '../../server/platform/postgres/partitions.ts';
import { createPrismaClient } from '../../server/platform/postgres/prisma.ts';
import { agent, blocked, callEach, chain, fanOut, forEach, type Kind, requests } from '../graphs.ts';
import { Folder } from '../system/folder.ts';
import { type BenchPostgres, startPostgres } from '../system/postgres.ts';
import { statementsOf } from '../system/statements.ts';
import type { System } from '../system/system.ts';
import { type BenchCallers, createBenchCallers } from './callers.ts';
import { createBenchOrchestrator, TENANT } from './orchestrator.ts';

const PROJECT = newId();
const CHAIN = 10;

/** The database's address, and a function that stops it. */
export type Store = Pick<BenchPostgres, 'url' | 'version' | 'postmaster' | 'close'>;

/**
 * Baton without its HTTP surface: the orchestrator with the real step types in this process, on a separate database.
 */
export class BenchService implements System {
  readonly pool: pg.Pool;
  readonly url: string;
  readonly versions: Record<string, string>;
  readonly processes: readonly number[];
  readonly statements: System['statements'];
  readonly #prisma: PrismaClient;
  readonly #callers: BenchCallers;
  readonly #store: Store;
  readonly #graphs = new Map<string, Graph>();
  readonly #declared = new Map<string, string>();
  readonly #ended = new Map<string, () => void>();
  readonly #luaPool = new LuaPool();
  #called: Promise<string> | undefined;
  orchestrator: EmbeddedOrchestrator;

  /** Starts Baton on a migrated database. `close` also closes the store. */
  constructor(store: Store) {
    this.#store = store;
    this.url = store.url;
    this.processes = [store.postmaster];
    this.versions = { Node: process.version, PostgreSQL: store.version };
    this.pool = new pg.Pool({ connectionString: store.url, max: 10 });
    this.statements = statementsOf(this.pool);
    this.#prisma = createPrismaClient(this.pool);
    this.#callers = createBenchCallers(this.pool, this.#prisma);
    this.orchestrator = this.launch();
  }

  static async open(): Promise<BenchService> {
    const folder = await Folder.make();
    try {
      const postgres = await startPostgres(folder, 50, process.env.BENCH_STATEMENTS === '1');
      await migrate(postgres.url);
      const close = async () => {
        await postgres.close();
        await folder.remove();
      };
      const service = new BenchService({ ...postgres, close });
      await ensurePartitions(service.pool, systemClock, createLogger('error'));
      await service.leading();
      return service;
    } catch (error) {
      await folder.remove();
      throw error;
    }
  }

  /** Creates a new orchestrator on the same database, after the last one was closed. */
  launch(): EmbeddedOrchestrator {
    this.orchestrator = createBenchOrchestrator({
      pool: this.pool,
      url: this.url,
      luaPool: this.#luaPool,
      graphOf: workflowId => this.#graphs.get(workflowId),
      callers: this.#callers,
    });
    this.orchestrator.subscribe({ tenantId: TENANT }, items => this.#observe(items));
    return this.orchestrator;
  }

  /** Settles once the orchestrator leads. A killed predecessor's session may hold the lock for a moment. */
  async leading(): Promise<void> {
    await this.orchestrator.ready;
    while (this.orchestrator.status() !== 'leading') await new Promise(resolve => setTimeout(resolve, 5));
  }

  /** Returns the id of a new workflow with this graph, which the orchestrator has not seen before. */
  declare(graph: Graph): string {
    const workflowId = newId();
    this.#graphs.set(workflowId, graph);
    return workflowId;
  }

  /** Returns the id of a workflow with this graph that runs can call, because it is also in the database. */
  async publish(graph: Graph): Promise<string> {
    const id = this.declare(graph);
    const [scope, by, at] = [{ tenantId: TENANT, projectId: PROJECT }, newId(), new Date()];
    const draft = { name: 'called', description: '', graph, runSetup: {}, graphChecksum: '', createdBy: by };
    await insertWorkflow(this.#prisma, { id, scope, ...draft, at });
    await insertVersion(this.pool, { ...scope, id, revision: 1 }, { changelog: '', by, at });
    return id;
  }

  /** Returns the id of the workflow with this name, which the first call declares. */
  declareOnce(name: string, graph: () => Graph): string {
    const workflowId = this.#declared.get(name) ?? this.declare(graph());
    this.#declared.set(name, workflowId);
    return workflowId;
  }

  ref(workflowId: string): RunRef {
    return { runId: newId(), tenantId: TENANT, projectId: PROJECT, workflowId };
  }

  /** Starts a run; settles when the start is acknowledged. */
  async start(ref: RunRef): Promise<void> {
    await this.orchestrator.start({ ...ref, data: started(ref) });
  }

  /** Settles at the run's terminal event. Call this before the run is started. */
  ended(ref: RunRef): Promise<void> {
    return new Promise(resolve => this.#ended.set(ref.runId, resolve));
  }

  /** Executes a run from its start to its terminal event. */
  async complete(workflowId: string): Promise<void> {
    const ref = this.ref(workflowId);
    const ended = this.ended(ref);
    await this.start(ref);
    await ended;
  }

  async parts(): Promise<Record<string, number>> {
    const { rows } = await this.pool.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE application_name = 'baton-orchestrator'`,
    );
    return { node: process.pid, ...(rows[0] ? { writer: rows[0].pid } : {}) };
  }

  chain(kind: Kind = 'condition'): Promise<void> {
    return this.complete(this.declareOnce(`chain ${kind}`, () => chain(kind, CHAIN)));
  }

  fanOut(width: number, kind: Kind = 'condition'): Promise<void> {
    return this.complete(this.declareOnce(`fan-out ${kind} ${width}`, () => fanOut(kind, width)));
  }

  forEach(count: number): Promise<void> {
    return this.complete(this.declareOnce(`for-each ${count}`, () => forEach(count)));
  }

  async callRuns(count: number): Promise<void> {
    this.#called ??= this.publish(chain('condition', 1));
    const called = await this.#called;
    await this.complete(this.declareOnce(`call-each ${count}`, () => callEach(count, called)));
  }

  requests(url: string): Promise<void> {
    return this.complete(this.declareOnce(`requests ${url}`, () => requests(CHAIN, url)));
  }

  /** Executes one run of an agent: AGENT_CALLS turns with a call each, and its answer. */
  agent(): Promise<void> {
    return this.complete(this.declareOnce('agent', () => agent));
  }

  async block(count: number): Promise<{ release(): Promise<void> }> {
    const workflow = this.declareOnce('blocked', () => blocked);
    const refs = Array.from({ length: count }, () => this.ref(workflow));
    for (let n = 0; n < count; n += 500) await Promise.all(refs.slice(n, n + 500).map(ref => this.start(ref)));
    const pending = `SELECT count(*)::int AS n FROM human_tasks WHERE state = 'pending'`;
    while ((await this.pool.query(pending)).rows[0].n < count || this.orchestrator.liveRuns > 0) {
      await new Promise(resolve => setTimeout(resolve, 10));
    }
    const answer = { step: 'ask', approved: true, result: {}, by: 'bench' };
    return {
      release: async () => {
        const ended = Promise.all(refs.map(ref => this.ended(ref)));
        await Promise.all(refs.map(ref => this.orchestrator.completeTask(ref, answer)));
        await ended;
      },
    };
  }

  async recordedSteps(): Promise<number> {
    const count = `SELECT count(*)::int AS n FROM run_events WHERE event_type = 'step_completed'`;
    return (await this.pool.query<{ n: number }>(count)).rows[0]?.n ?? 0;
  }

  async recordedRuns(): Promise<number> {
    const count = `SELECT count(*)::int AS n FROM runs WHERE status = 'completed'`;
    return (await this.pool.query<{ n: number }>(count)).rows[0]?.n ?? 0;
  }

  async close(): Promise<void> {
    await this.orchestrator.close();
    await this.#luaPool.close();
    await this.#callers.close();
    await this.#prisma.$disconnect();
    await this.pool.end();
    await this.#store.close();
  }

  #observe(items: readonly StreamItem[]): void {
    for (const { kind, item } of items) {
      // Nothing is paused here, so the only change of a run's state is its end.
      if (kind !== 'event' || item.event.type !== 'state_changed') continue;
      const settle = this.#ended.get(item.runId);
      this.#ended.delete(item.runId);
      settle?.();
    }
  }
}

/** Returns the data of a start through the API. */
export function started(ref: RunRef): RunStartedData {
  return {
    version: 1,
    input: { n: 1 },
    mode: 'normal',
    trigger_type: 'api',
    trigger_steps: {},
    seed_results: {},
    session_id: ref.runId,
    started_by: 'bench',
  };
}
