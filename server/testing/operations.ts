import type { AnyOperation } from '../operation/operation.ts';

type ByName<Operations extends readonly AnyOperation[]> = {
  readonly [Operation in Operations[number] as Operation['name']]: Operation;
};

/** Returns the operations by their names, so that a test does not depend on the order of a list. */
export const operationsByName = <const Operations extends readonly AnyOperation[]>(operations: Operations) =>
  Object.fromEntries(operations.map(operation => [operation.name, operation])) as ByName<Operations>;
