import { fileURLToPath } from 'node:url';

/**
 * Environment for a process of the service that a test starts: it caches compiled code for the next one, which
 * otherwise takes half of a start's CPU. Node looks compiled code up by its source.
 */
export const COMPILE_CACHE = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../node_modules/.cache/baton-tests', import.meta.url)),
} as const;
