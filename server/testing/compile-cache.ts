import { fileURLToPath } from 'node:url';

/**
 * Environment for a process of the service that a test starts: it caches compiled code for later processes, since
 * compiling takes half of a start's CPU. Node finds compiled code by its source.
 */
export const COMPILE_CACHE = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../node_modules/.cache/baton-tests', import.meta.url)),
} as const;
