export type { Verdict } from './expression-job.ts';
export { LuaPool, type LuaRun, sizeOf } from './pool.ts';
export type { LuaData } from './sandbox.ts';
export { type PreparedScript, prepareScript } from './script.ts';
