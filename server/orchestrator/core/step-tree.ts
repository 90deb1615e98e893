import { isAgent } from './growth.ts';
import type { RunState } from './state.ts';
import { itemPrefix } from './step-ids.ts';

/**
 * The steps in memory that were added under `parent`, at any depth and each before its own parent; those of one item
 * only if `index` is given.
 */
export function* openSteps(state: RunState, parent: string, index?: number): Generator<string> {
  const expansion = state.grown?.parents.get(parent);
  if (expansion === undefined) return;
  if (isAgent(expansion)) {
    yield* expansion.steps;
    return;
  }
  const items = index === undefined ? expansion.open.keys() : [index];
  for (const item of items) {
    const prefix = itemPrefix(parent, item);
    for (const name of expansion.graph.order) {
      const id = `${prefix}${name}`;
      if (!state.steps.has(id)) continue;
      yield* openSteps(state, id);
      yield id;
    }
  }
}
