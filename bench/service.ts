import { readFileSync } from 'node:fs';
import pg from 'pg';
import { readConfig } from '../server/config.ts';
import type { Graph } from '../server/orchestrator/core/index.ts';
import type { RunRef } from '../server/orchestrator/orchestrator.ts';
import { createEmbeddedOrchestrator, type EmbeddedOrchestrator } from '../server/orchestrator/runtime.ts';
import { LuaPool } from '../server/orchestrator/steps/lua/index.ts';
import { createStepTypes } from '../server/orchestrator/steps/registry.ts';
import type { StepType } from '../server/orchestrator/steps/step-type.ts';
import { systemClock } from '../server/platform/clock.ts';
import { newId } from '../server/platform/ids.ts';
import { createLogger } from '../server/platform/logger.ts';
import { withDatabase } from '../server/platform/postgres/cluster.ts';
import { migrate } from '../server/platform/postgres/migrate.ts';
import { startTestCluster } from '../server/platform/postgres/testing-cluster.ts';

const TENANT = 'bench';
const PROJECT = newId();

/** PostgreSQL with fsync on and a fresh database; the orchestrator with the real step types, in this process. */
export class BenchService {
  readonly pool: pg.Pool;
  readonly url: string;
  readonly #stopCluster: () => Promise<void>;
  readonly #graphs = new Map<string, Graph>();
  readonly #ended = new Map<string, () => void>();
  #luaPool = new LuaPool();
  orchestrator: EmbeddedOrchestrator;

  private constructor(url: string, stopCluster: () => Promise<void>) {
    this.url = url;
    this.#stopCluster = stopCluster;
    this.pool = new pg.Pool({ connectionString: url, max: 10 });
    this.orchestrator = this.launch();
  }

  static async open(): Promise<BenchService> {
    process.env.BATON_TEST_FSYNC = '1';
    const cluster = await startTestCluster();
    const admin = new pg.Client({ connectionString: cluster.url });
    await admin.connect();
    await admin.query('CREATE DATABASE bench');
    await admin.end();
    const url = withDatabase(cluster.url, 'bench');
    await migrate(url);
    const service = new BenchService(url, cluster.stop);
    await service.orchestrator.ready;
    return service;
  }

  /** A new orchestrator on the same database; `extra` replaces step types. */
  launch(extra: readonly StepType[] = []): EmbeddedOrchestrator {
    const stepTypes = new Map(createStepTypes({ luaPool: this.#luaPool }));
    for (const type of extra) stepTypes.set(type.type, type);
    this.orchestrator = createEmbeddedOrchestrator({
      pool: this.pool,
      connectionString: this.url,
      clock: systemClock,
      logger: createLogger('error'),
      stepTypes,
      config: { ...readConfig({}).orchestrator, maxInFlightPerTenant: 512, shutdownGraceMs: 0 },
      loadVersion: async ({ workflowId }) => this.#graphs.get(workflowId) ?? null,
    });
    this.orchestrator.subscribe({ tenantId: TENANT }, items => {
      for (const { kind, item } of items) {
        if (kind === 'event' && item.event.type === 'state_changed') this.#settle(item.runId);
      }
    });
    return this.orchestrator;
  }

  declare(graph: Graph): string {
    const workflowId = newId();
    this.#graphs.set(workflowId, graph);
    return workflowId;
  }

  ref(workflowId: string): RunRef {
    return { runId: newId(), tenantId: TENANT, projectId: PROJECT, workflowId };
  }

  /** Starts a run; settles when the start is acknowledged. */
  async start(ref: RunRef, input: { n: number } = { n: 1 }): Promise<void> {
    const data = {
      version: 1,
      input,
      mode: 'normal' as const,
      trigger_type: 'api',
      trigger_steps: {},
      seed_results: {},
      session_id: ref.runId,
      started_by: 'bench',
    };
    await this.orchestrator.start({ ...ref, data });
  }

  /** Settles at the run's terminal event. To be asked for before the run is started. */
  ended(ref: RunRef): Promise<void> {
    return new Promise(resolve => this.#ended.set(ref.runId, resolve));
  }

  /** CPU seconds so far: this process, and the database session that writes the log. */
  async cpu(): Promise<{ node: number; writer: number }> {
    const { user, system } = process.cpuUsage();
    const { rows } = await this.pool.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE application_name = 'baton-orchestrator'`,
    );
    return { node: (user + system) / 1e6, writer: cpuOf(rows[0]?.pid) };
  }

  async close(): Promise<void> {
    await this.orchestrator.close();
    await this.#luaPool.close();
    await this.pool.end();
    await this.#stopCluster();
  }

  #settle(runId: string): void {
    this.#ended.get(runId)?.();
    this.#ended.delete(runId);
  }
}

/** utime and stime of /proc/<pid>/stat, in ticks of 10 ms; 0 where there is no /proc. */
function cpuOf(pid: number | undefined): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return 0;
  }
}
