import type { JsonValue } from './events.ts';
import type { RunState } from './state.ts';
import { addedId, itemPrefix } from './step-ids.ts';

/**
 * The steps whose results a step may read, by the names that it reads them by: its ancestors; for an added step those in
 * its item, and all that its parent may read.
 */
export function readableSteps(state: RunState, step: string): ReadonlySet<string> {
  const id = state.grown === null ? null : addedId(step);
  if (id === null) return state.graph.ancestors(step);
  const own = state.grown?.parents.get(id.parent)?.graph.ancestors(id.name) ?? [];
  return new Set([...own, ...readableSteps(state, id.parent)]);
}

/** The step that `step` reads by this name, which is one of `readableSteps`. */
export function readStep(state: RunState, step: string, name: string): string {
  const id = state.grown === null ? null : addedId(step);
  if (id === null) return name;
  const graph = state.grown?.parents.get(id.parent)?.graph;
  if (graph?.steps.has(name)) return `${itemPrefix(id.parent, id.index)}${name}`;
  return readStep(state, id.parent, name);
}

/** The item of the innermost loop that the step is in, and its number from 0; null for a step that is in none. */
export function itemOf(state: RunState, step: string): { item: JsonValue; index: number } | null {
  const id = state.grown === null ? null : addedId(step);
  const expansion = id === null ? undefined : state.grown?.parents.get(id.parent);
  if (id === null || expansion === undefined) return null;
  return { item: expansion.items[id.index] ?? null, index: id.index };
}
