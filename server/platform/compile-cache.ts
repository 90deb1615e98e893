import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/**
 * Returns the environment variables that let another process or thread use this process's compile cache; empty if there is no
 * cache. With the cache, a start takes half of the CPU time.
 */
export function compileCacheOfThisProcess(): Record<string, string> {
  // A folder for this version of Node, inside the folder that the environment names.
  const folder = getCompileCacheDir();
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}
