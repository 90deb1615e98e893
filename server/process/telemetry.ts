import type { Pool } from 'pg';
import { Registry } from 'prom-client';
import type { Config } from '../operation/config.ts';
import type { LuaPool } from '../orchestrator/languages/lua/index.ts';
import type { Cluster } from '../orchestrator/ports/cluster.ts';
import { allOf, type OrchestratorObserver } from '../orchestrator/ports/observer.ts';
import type { EmbeddedOrchestrator } from '../orchestrator/runtime/index.ts';
import {
  clusterMetrics,
  createRunLog,
  createRunMetrics,
  createRunTraces,
  loadMetrics,
} from '../orchestrator/telemetry/index.ts';
import type { Logger } from '../platform/logger.ts';
import type { ReplicationWatch } from '../platform/postgres/replication.ts';
import { buildInfo, poolMetrics, replicationMetrics, retentionMetrics } from '../platform/telemetry/process-metrics.ts';
import { startTracing } from '../platform/telemetry/tracing.ts';
import { VERSION } from './version.ts';

export type MetricsRegistry = Registry;

/** The service's metrics, traces and logs for one container (docs/observability.md). */
export type Telemetry = {
  registry: MetricsRegistry;
  /** Given to the orchestrator. */
  observer: OrchestratorObserver;
  /** The values that are read when metrics are requested. */
  watch(parts: {
    orchestrator: EmbeddedOrchestrator;
    luaPool: LuaPool;
    pool: Pool;
    cluster: Cluster | null;
    replication: Pick<ReplicationWatch, 'state'> | null;
  }): void;
  /** Given to the retention job. */
  retention: { clockDoubted(doubted: boolean): void };
  /** Sends the spans that wait. */
  close(): Promise<void>;
};

/** Metrics always; traces if they are configured; a line for each run at the log level debug. */
export async function startTelemetry(config: Pick<Config, 'tracing'>, logger: Logger): Promise<Telemetry> {
  const registry = new Registry();
  buildInfo(registry, VERSION);
  const tracing = config.tracing === null ? null : await startTracing(config.tracing, VERSION, logger);
  const observers = [createRunMetrics(registry)];
  if (tracing !== null) observers.push(createRunTraces(tracing));
  if (logger.isLevelEnabled('debug')) observers.push(createRunLog(logger));
  return {
    registry,
    observer: allOf(observers),
    watch({ orchestrator, luaPool, pool, cluster, replication }) {
      loadMetrics(registry, { load: () => orchestrator.load(), lua: luaPool });
      poolMetrics(registry, pool);
      replicationMetrics(registry, replication);
      clusterMetrics(registry, cluster);
    },
    retention: retentionMetrics(registry),
    close: async () => tracing?.close(),
  };
}
