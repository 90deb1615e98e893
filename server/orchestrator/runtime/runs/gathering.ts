import {
  type Expansion,
  isAgent,
  type JsonValue,
  type LoopExpansion,
  type RunState,
  type StepResult,
  StoredValue,
  turnId,
} from '../../core/index.ts';
import type { Gathered } from '../../ports/step-type.ts';
import type { LoadedResults } from '../memory/stored-results.ts';

/** The name under which the large result of an item's step is loaded. */
const nameOf = (index: number, at: number): string => `${index}.${at}`;

/**
 * Returns the large results that a step reads once all added steps have ended, by name: those of its items, or that of
 * the last turn of an agent. Null without any.
 */
export function storedEnds(
  state: RunState,
  step: string,
  expansion: Expansion,
): ReadonlyMap<string, StoredValue> | null {
  if (!isAgent(expansion)) return storedEndsOfItems(expansion);
  const last = turnId(step, expansion.turns);
  const result = state.results.get(last);
  return result instanceof StoredValue ? new Map([[last, result]]) : null;
}

function storedEndsOfItems({ ends }: LoopExpansion): ReadonlyMap<string, StoredValue> | null {
  const stored = new Map<string, StoredValue>();
  for (const [index, end] of ends.entries()) {
    for (const [at, result] of (end ?? []).entries())
      if (result instanceof StoredValue) stored.set(nameOf(index, at), result);
  }
  return stored.size === 0 ? null : stored;
}

/** Returns the ends of a loop's items, with large results filled in. Throws an Error if these are not loaded. */
export function gatheredOf({ ends, last, failed }: LoopExpansion, loaded: LoadedResults | null): Gathered {
  const resultOf = (result: StepResult, index: number, at: number): JsonValue => {
    if (!(result instanceof StoredValue)) return result;
    if (loaded === null) throw new Error(`a result of item ${index} is not loaded`);
    return loaded.value(nameOf(index, at));
  };
  return {
    last,
    failed,
    ends: ends.map((end, index) => end?.map((result, at) => resultOf(result, index, at)) ?? null),
  };
}
