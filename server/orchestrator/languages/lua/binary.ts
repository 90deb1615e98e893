import { compileLua, instantiateLua, type LuaHost } from './host.ts';

export const MEMORY_LIMIT = 64 * 1024 * 1024;

/**
 * Finds where the allocator stores the end of the heap, by observing which word changes after two large allocations.
 * Uses a separate instance, because the allocations raise the end of its heap permanently.
 */
function findHeapEnd(module: WebAssembly.Module): number | undefined {
  const host: LuaHost = instantiateLua(module, MEMORY_LIMIT);
  const { api } = host;
  const staticEnd = api.emscripten_stack_get_end();
  const readStatic = () => new Uint32Array(host.bytes().slice(0, staticEnd & ~3).buffer);
  const SIZE = 1024 * 1024;
  const before = readStatic();
  api.malloc(SIZE);
  const between = readStatic();
  const second = api.malloc(SIZE);
  const after = readStatic();
  let found: number | undefined;
  for (const [index, value] of after.entries()) {
    const grew = (between[index] ?? 0) > (before[index] ?? 0) && value > (between[index] ?? 0);
    const beyond = value >= second + SIZE && value <= host.bytes().length;
    if (grew && beyond && (found === undefined || value > (after[found] ?? 0))) found = index;
  }
  return found === undefined ? undefined : found * 4;
}

/** The data that all sandboxes share. It can be sent to other threads. */
export type LuaBinary = { module: WebAssembly.Module; heapEndAt: number | undefined };

let prepared: LuaBinary | undefined;

/** Compiles Lua and finds the end of its heap: ~40 ms, once for all pools of the process. */
export function prepareLua(): LuaBinary {
  if (prepared === undefined) {
    const module = compileLua();
    prepared = { module, heapEndAt: findHeapEnd(module) };
  }
  return prepared;
}
