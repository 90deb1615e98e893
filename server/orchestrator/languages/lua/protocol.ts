import type { Wanted } from './expression-job.ts';
import type { LuaBinary, LuaData, LuaOutcome } from './sandbox.ts';

/** One script to run, or only to compile (`data` null), or one CEL expression to evaluate. */
export type LuaJob =
  | { language: 'lua'; script: string; data: LuaData | null }
  | { language: 'cel'; script: string; data: LuaData; wants: Wanted };

/**
 * Several jobs in one message: for many short scripts, a message each would cost more than the script. `claims` is
 * shared: the worker claims job n by changing its 0 to 1, and the pool withdraws a job that has not started by changing
 * its 0 to 2.
 */
export type LuaBatch = { jobs: LuaJob[]; claims: Int32Array };
export const Claim = { free: 0, taken: 1, withdrawn: 2 } as const;

/** Outcomes with their indexes in the batch. `done`: the worker has left the batch. */
export type LuaReply = { outcomes: [number, LuaOutcome][]; done: boolean };

/** `thread` is shared: the worker stores its thread id there (priority.ts). */
export type LuaWorkerData = LuaBinary & { memoryLimit: number; thread: Int32Array };
