import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/**
 * Returns the environment by which another process or thread uses the compiled code that this process caches; empty if it
 * caches none. Both then start with half of the CPU.
 */
export function compileCacheOfThisProcess(): Record<string, string> {
  // The folder for this version of Node, in the one that the environment names.
  const folder = getCompileCacheDir();
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}
