import { allSteps, type Graph, type GraphStep, innerSteps, type JsonValue } from '../../../orchestrator/core/index.ts';

/** The graph that the test of one step executes, with its seeds and the steps that may be given results. */
export type StepAlone = {
  graph: Graph;
  /** The id of the step of this graph that is executed: the step under test, or the loop around it. */
  executed: string;
  /** The ids of the steps before the step under test, which may be given results. */
  before: ReadonlySet<string>;
  /** The same steps in the form that they have in the draft. */
  earlier: readonly GraphStep[];
  /** Seeds that the graph needs besides the given results. */
  seeds: { readonly [step: string]: JsonValue };
};

/**
 * Returns a graph in which only one step is executed. It also contains the steps before it, replaced by scripts that
 * return nothing, so that their types and errors do not matter; the run receives their results as seeds. `path` has the
 * ids of the loops around the step, the outermost first, and then the id of the step. A step in a loop is executed
 * once, in a loop whose only item is `item`. Returns null if the path leads to no step.
 */
export function stepAlone(graph: Graph, path: readonly string[], item: JsonValue = null): StepAlone | null {
  const found = stepsOnPath(graph.steps, path);
  if (found === null) return null;
  const { step, loop, earlier } = found;
  const before = new Set(earlier.map(({ id }) => id));
  const kept = earlier.map(each => placeholder(each, before));
  if (loop === null) return { graph: { steps: [...kept, alone(step)] }, executed: step.id, before, earlier, seeds: {} };
  // The steps before the step in its loop are moved before the loop: the step reads them by the same ids, and a run
  // accepts seeds only for steps outside of loops.
  const items = freeId('items', new Set([...before, loop, ...allSteps({ steps: [step] }).map(({ id }) => id)]));
  const around: GraphStep = {
    id: loop,
    type: 'for_each',
    items: `{{steps.${items}.result}}`,
    steps: [{ ...alone(step), depends_on: [] }] as unknown as JsonValue,
    depends_on: [...before, items],
  };
  const steps = [...kept, placeholder({ id: items, type: 'lua_script' }, before), around];
  return { graph: { steps }, executed: loop, before, earlier, seeds: { [items]: [item] } };
}

type Found = {
  step: GraphStep;
  /** The id of the innermost loop around the step. */
  loop: string | null;
  /** The steps before the step, and before each of the loops around it. */
  earlier: GraphStep[];
};

function stepsOnPath(steps: readonly GraphStep[], [id = '', ...inner]: readonly string[]): Found | null {
  const byId = new Map(steps.map(step => [step.id, step]));
  const step = byId.get(id);
  if (step === undefined) return null;
  const before = stepsBefore(byId, step);
  const earlier = steps.filter(each => before.has(each.id));
  if (inner.length === 0) return { step, loop: null, earlier };
  const found = stepsOnPath(innerSteps(step) ?? [], inner);
  return found && { ...found, loop: found.loop ?? id, earlier: [...earlier, ...found.earlier] };
}

function freeId(wanted: string, taken: ReadonlySet<string>): string {
  let id = wanted;
  for (let n = 2; taken.has(id); n += 1) id = `${wanted}_${n}`;
  return id;
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

/** Returns a step that is skipped, and whose result is seeded. */
const placeholder = ({ id, depends_on = [] }: GraphStep, known: ReadonlySet<string>): GraphStep => ({
  id,
  type: 'lua_script',
  script: 'return nil',
  depends_on: depends_on.filter(each => known.has(each)),
});

/** Enables a disabled step and empties its branches, so that only this step is executed. */
function alone(step: GraphStep): GraphStep {
  const { disabled: _disabled, then: _then, else: _else, ...rest } = step;
  return rest as GraphStep;
}
