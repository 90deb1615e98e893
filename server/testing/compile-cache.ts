import { fileURLToPath } from 'node:url';

/**
 * Environment of a process of the service that a test starts: it keeps what it compiled for the next one, which takes half
 * of the CPU of a start. Node looks compiled code up by its source.
 */
export const COMPILE_CACHE = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../node_modules/.cache/baton-tests', import.meta.url)),
} as const;
