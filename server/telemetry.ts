import { readFileSync } from 'node:fs';
import type { Pool } from 'pg';
import { Registry } from 'prom-client';
import type { OrchestratorObserver } from './orchestrator/observer.ts';
import type { EmbeddedOrchestrator } from './orchestrator/runtime.ts';
import type { LuaPool } from './orchestrator/steps/lua/index.ts';
import { createRunMetrics, loadMetrics } from './orchestrator/telemetry/index.ts';
import { buildInfo, poolMetrics } from './platform/telemetry/process-metrics.ts';

export type MetricsRegistry = Registry;

/** What the service shows of itself to the outside (docs/observability.md), put together for one container. */
export type Telemetry = {
  registry: MetricsRegistry;
  /** Given to the orchestrator. */
  observer: OrchestratorObserver;
  /** What is looked at when metrics are asked for. */
  watch(parts: { orchestrator: EmbeddedOrchestrator; luaPool: LuaPool; pool: Pool }): void;
};

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

export function startTelemetry(): Telemetry {
  const registry = new Registry();
  const observer = createRunMetrics(registry);
  buildInfo(registry, version);
  return {
    registry,
    observer,
    watch({ orchestrator, luaPool, pool }) {
      loadMetrics(registry, { load: () => orchestrator.load(), lua: luaPool });
      poolMetrics(registry, pool);
    },
  };
}
