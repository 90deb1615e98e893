import { getHeapStatistics } from 'node:v8';
import { z } from 'zod';
import { integer } from '../../platform/setting-types.ts';

export type OrchestratorSettings = {
  maxInFlight: number;
  maxInFlightPerTenant: number;
  /** Attempts that only wait for tools and models; they do not count towards `maxInFlight`. */
  maxCallsInFlight: number;
  maxActiveRunsPerTenant: number;
  /** Runs that a run and the runs beneath it may start, directly and indirectly: in all, and active at a time. */
  maxDescendants: number;
  maxActiveDescendants: number;
  shutdownGraceMs: number;
  /** Limits in bytes; orchestrator/runtime/memory/memory-limits.ts defines what each one limits. */
  memory: {
    runBytes: number;
    liveBytes: number;
    liveBytesPerTenant: number;
    uncommittedResultBytes: number;
    loadingBytes: number;
    cacheBytes: number;
  };
};

/** The environment of the orchestrator (docs/configuration.md). */
export const orchestratorSchema = z.object({
  BATON_MAX_IN_FLIGHT: integer(512, 1, 100_000),
  BATON_MAX_ACTIVE_RUNS_PER_TENANT: integer(20_000, 1, 10_000_000),
  /** The limits of the runs beneath one run. */
  BATON_MAX_DESCENDANTS: integer(10_000, 1, 10_000_000),
  BATON_MAX_ACTIVE_DESCENDANTS: integer(2_000, 1, 10_000_000),
  BATON_SHUTDOWN_GRACE_S: integer(10, 0, 600),
  /** The results and the input of one run. */
  BATON_MAX_RUN_MIB: integer(256, 1, 1_000_000),
  /** Runs and results in memory; 0 = a quarter of the heap. */
  BATON_MEMORY_MIB: integer(0, 0, 1_000_000),
});

/**
 * Calls only wait, at the cost of a little memory, so their limit is four times that of other attempts: 512 steps that
 * compute keep a process busy, and 2,048 calls do not.
 */
const CALLS_PER_STEP = 4;

/** Returns the settings. */
export function orchestratorSettings(env: z.output<typeof orchestratorSchema>): OrchestratorSettings {
  return {
    maxInFlight: env.BATON_MAX_IN_FLIGHT,
    // By the rule of shares (runtime/runs/slots.ts), a workspace gets half while no other one is active.
    maxInFlightPerTenant: Math.ceil(env.BATON_MAX_IN_FLIGHT / 2),
    maxCallsInFlight: CALLS_PER_STEP * env.BATON_MAX_IN_FLIGHT,
    maxActiveRunsPerTenant: env.BATON_MAX_ACTIVE_RUNS_PER_TENANT,
    maxDescendants: env.BATON_MAX_DESCENDANTS,
    maxActiveDescendants: env.BATON_MAX_ACTIVE_DESCENDANTS,
    shutdownGraceMs: env.BATON_SHUTDOWN_GRACE_S * 1000,
    memory: memoryLimits(env),
  };
}

const MIB = 1024 * 1024;
/** The minimum, with which even the smallest share holds two results of the maximum size. */
const LEAST_MEMORY = 16 * MIB;

/**
 * Half of the memory is for runs, a quarter for results that scripts return, and an eighth each for results being
 * read and for results kept.
 */
function memoryLimits(env: z.output<typeof orchestratorSchema>): OrchestratorSettings['memory'] {
  const set = env.BATON_MEMORY_MIB * MIB || getHeapStatistics().heap_size_limit / 4;
  const memory = Math.max(LEAST_MEMORY, Math.floor(set));
  const liveBytes = memory / 2;
  return {
    runBytes: env.BATON_MAX_RUN_MIB * MIB,
    liveBytes,
    liveBytesPerTenant: liveBytes / 2,
    uncommittedResultBytes: memory / 4,
    loadingBytes: memory / 8,
    cacheBytes: memory / 8,
  };
}
