import type { CompiledGraph, CompiledStep } from './compile.ts';

/** The parts of an added step's id: `each.3.fetch` is the step `fetch` of item 3 of its parent `each`. */
export type AddedId = { readonly parent: string; readonly index: number; readonly name: string };

/** Authored ids contain no dot (docs/specification/steps.md#step-ids). */
const SEPARATOR = '.';

/** The ids of all steps of an item begin with this. */
export function itemPrefix(parent: string, index: number): string {
  return `${parent}${SEPARATOR}${index}${SEPARATOR}`;
}

/** Null for an authored step. */
export function addedId(step: string): AddedId | null {
  const name = step.lastIndexOf(SEPARATOR);
  const index = step.lastIndexOf(SEPARATOR, name - 1);
  if (name < 0 || index < 0) return null;
  return { parent: step.slice(0, index), index: Number(step.slice(index + 1, name)), name: step.slice(name + 1) };
}

/** The authored step under which a step was added; an authored step itself. */
export function rootOf(step: string): string {
  const end = step.indexOf(SEPARATOR);
  return end < 0 ? step : step.slice(0, end);
}

/** How many parents are above a step: 0 for an authored one. */
export function depthOf(step: string): number {
  return Math.floor((step.split(SEPARATOR).length - 1) / 2);
}

/** The step of the published graph that an id names, at any depth; its own ids are those of the graph that it is in. */
export function templateStep(graph: CompiledGraph, step: string): CompiledStep | undefined {
  const id = addedId(step);
  if (id === null) return graph.steps.get(step);
  return templateStep(graph, id.parent)?.inner?.steps.get(id.name);
}
