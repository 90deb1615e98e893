import type pg from 'pg';
import { Registry } from 'prom-client';
import { readConfig } from '../../server/operation/config.ts';
import type { Graph } from '../../server/orchestrator/core/index.ts';
import type { LuaPool } from '../../server/orchestrator/languages/lua/index.ts';
import type { StepType } from '../../server/orchestrator/ports/step-type.ts';
import { createEmbeddedOrchestrator, type EmbeddedOrchestrator } from '../../server/orchestrator/runtime/index.ts';
import type { WorkflowCaller } from '../../server/orchestrator/steps/call-workflow/workflow-caller.ts';
import type { HttpRequester } from '../../server/orchestrator/steps/http-request/http-requester.ts';
import { createStepTypes } from '../../server/orchestrator/steps/registry.ts';
import { createRunMetrics } from '../../server/orchestrator/telemetry/index.ts';
import { systemClock } from '../../server/platform/clock.ts';
import { createLogger } from '../../server/platform/logger.ts';
import { agentCallers } from './agent-callers.ts';
import { benchCredits } from './credits.ts';

/** The only tenant of these measurements. */
export const TENANT = 'bench';

export type BenchOrchestratorOptions = {
  pool: pg.Pool;
  url: string;
  luaPool: LuaPool;
  graphOf(workflowId: string): Graph | undefined;
  /** Callers for `http_request` and `call_workflow` steps; default: no run has such steps. */
  callers?: { requester: HttpRequester; workflows: WorkflowCaller };
  /** Replaces step types of the product. */
  stepTypes?: readonly StepType[];
  /** The number of steps that can be in flight. One tenant gets half of the total, so the total is doubled here. */
  inFlight?: number;
};

/** Creates the product's orchestrator with its real step types and settings, except for the limits of one tenant. */
export function createBenchOrchestrator(options: BenchOrchestratorOptions): EmbeddedOrchestrator {
  const stepTypes = new Map(createStepTypes({ luaPool: options.luaPool, ...agentCallers, ...options.callers }));
  for (const type of options.stepTypes ?? []) stepTypes.set(type.type, type);
  const config = readConfig({}).orchestrator;
  const inFlight = options.inFlight ?? config.maxInFlight;
  // One tenant gets at most half of the total.
  const limits = { maxInFlight: 2 * inFlight, maxInFlightPerTenant: inFlight, maxActiveRunsPerTenant: 10_000_000 };
  const descendants = { maxDescendants: 10_000_000, maxActiveDescendants: 10_000_000 };
  return createEmbeddedOrchestrator({
    pool: options.pool,
    connectionString: options.url,
    clock: systemClock,
    logger: createLogger('error'),
    stepTypes,
    // The service always collects metrics, too.
    observer: createRunMetrics(new Registry()),
    config: { ...config, ...limits, ...descendants, shutdownGraceMs: 0 },
    // As in the service, the commit that ends a step charges for it. `--free` measures the cost of charging.
    ...(process.env.BENCH_FREE !== '1' && { credits: benchCredits(options.pool) }),
    loadVersion: async ({ workflowId }) => options.graphOf(workflowId) ?? null,
  });
}
