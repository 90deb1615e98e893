import type { AnyOperation } from './operation.ts';

/** Every operation of the service, domain by domain. Types of the console and all surfaces follow from this one tuple. */
export const operations = [] as const satisfies readonly AnyOperation[];
