export type { Verdict } from './expression-job.ts';
export { LuaPool, type LuaRun, sizeOf } from './pool.ts';
export { type LuaData, type LuaOutcome, MEMORY_LIMIT, RESULT_LIMIT } from './sandbox.ts';
export { type PreparedScript, prepareScript } from './script.ts';
