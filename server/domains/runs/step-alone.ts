import type { Graph, GraphStep } from '../../orchestrator/core/index.ts';

/**
 * Returns a graph in which only the step `id` is executed. It also contains the steps before it, replaced by
 * scripts that return nothing, so that their types and errors do not matter; the run receives their results as
 * seeds. Null if there is no such step.
 */
export function stepAlone(graph: Graph, id: string): Graph | null {
  const steps = new Map(graph.steps.map(step => [step.id, step]));
  const step = steps.get(id);
  if (step === undefined) return null;
  const before = stepsBefore(steps, step);
  const kept = graph.steps.filter(each => before.has(each.id));
  return { steps: [...kept.map(each => placeholder(each, before)), alone(step)] };
}

function stepsBefore(steps: ReadonlyMap<string, GraphStep>, step: GraphStep): Set<string> {
  const found = new Set<string>();
  const open = [...(step.depends_on ?? [])];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (found.has(id) || id === step.id || !steps.has(id)) continue;
    found.add(id);
    open.push(...(steps.get(id)?.depends_on ?? []));
  }
  return found;
}

/** A step that is skipped, and whose result is seeded. */
const placeholder = ({ id, depends_on = [] }: GraphStep, known: ReadonlySet<string>): GraphStep => ({
  id,
  type: 'lua_script',
  script: 'return nil',
  depends_on: depends_on.filter(each => known.has(each)),
});

/** A disabled step is executed too, and its branches are empty. */
function alone(step: GraphStep): GraphStep {
  const { disabled: _disabled, then: _then, else: _else, ...rest } = step;
  return rest as GraphStep;
}
