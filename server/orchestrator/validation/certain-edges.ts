import type { GraphStep, JsonValue } from '../core/index.ts';
import type { Topology } from './topology.ts';

const certainSteps = new WeakMap<Topology, ReadonlySet<string>>();

/**
 * Returns a dependency of `step`, other than `except`, whose edge is taken whichever branches a run takes, so that no
 * branch can skip the step. Undefined if no edge is certain.
 */
export function certainDependency(graph: Topology, step: string, except: string): string | undefined {
  let certain = certainSteps.get(graph);
  if (certain === undefined) {
    certain = findCertain(graph);
    certainSteps.set(graph, certain);
  }
  const { depends_on } = graph.steps.get(step) ?? {};
  if (!Array.isArray(depends_on)) return undefined;
  return depends_on.find(id => id !== except && certain.has(id) && isCertainEdge(graph.steps.get(id), step));
}

/** Returns the steps that no branch skips: steps without dependencies, and steps that a certain edge reaches from them. */
function findCertain({ steps, dependents }: Topology): Set<string> {
  const roots = [...steps.values()].filter(({ depends_on }) => !Array.isArray(depends_on) || depends_on.length === 0);
  const found = new Set(roots.map(({ id }) => id));
  // A Set is iterated in insertion order, including what is added meanwhile: it is its own queue.
  for (const id of found) {
    for (const dependent of dependents.get(id) ?? []) {
      if (isCertainEdge(steps.get(id), dependent)) found.add(dependent);
    }
  }
  return found;
}

/** Returns whether the edge is always taken, from a step that has ended and was not skipped by a branch. */
function isCertainEdge(from: GraphStep | undefined, to: string): boolean {
  if (from?.type !== 'condition' || from.mode === 'validate' || from.disabled === true) return true;
  return names(from.then, to) === names(from.else, to);
}

const names = (list: JsonValue | undefined, id: string): boolean => Array.isArray(list) && list.includes(id);
