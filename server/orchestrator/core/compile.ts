import { AncestorIndex } from './ancestors.ts';
import type { JsonMap, JsonValue } from './events.ts';
import { type Graph, type GraphStep, innerSteps } from './graph.ts';

export type Branch = 'then' | 'else';

/** The bounds of the timing fields that a run obeys, even if its log has other values: overrides were once stored unchecked. */
export const MAX_TIMEOUT_S = 86_400;
export const MAX_RETRY_COUNT = 10;
export const MAX_RETRY_DELAY_S = 60;
const DEFAULT_RETRY_DELAY_S = 1;

export type CompiledStep = {
  readonly spec: GraphStep;
  readonly index: number;
  readonly dependencies: readonly string[];
  readonly dependents: readonly string[];
  readonly retryCount: number;
  readonly retryDelayMs: number;
  /** Which dependents belong to which branch; only for a `condition` in branch mode. */
  readonly branches: { readonly then: ReadonlySet<string>; readonly else: ReadonlySet<string> } | null;
  /** The approval that must be given before the step begins; null unless the step is a call of an agent. */
  readonly approval: string | null;
  /** The graph that the step adds to the run for each item; null for a step without inner steps. */
  readonly inner: CompiledGraph | null;
};

/** A published graph, compiled once per version and shared by all its runs; immutable. */
export type CompiledGraph = {
  readonly steps: ReadonlyMap<string, CompiledStep>;
  /** Step ids, with dependencies before their dependents. */
  readonly order: readonly string[];
  /** The `searchable` of the published graph; null if it declares none. */
  readonly searchable: JsonMap | null;
  /** All ancestors of a step (transitive dependencies). Computed on first use and kept. */
  ancestors(step: string): ReadonlySet<string>;
};

/**
 * Compiles a valid graph. Throws an Error on a duplicate id, an unknown dependency or a cycle, which are defects here
 * because publishing refuses them.
 */
export function compile(graph: Graph): CompiledGraph {
  const steps = link(graph);
  const order = topologicalOrder(steps);
  let index: AncestorIndex | undefined;
  return {
    steps,
    order,
    searchable: graph.searchable ?? null,
    ancestors(step) {
      index ??= new AncestorIndex(order, id => steps.get(id)?.dependencies ?? []);
      return index.of(step);
    },
  };
}

/**
 * Returns the step for one run: with the fields of `override`, except `id`, `type`, `depends_on` and `on_error`, which
 * a run cannot change (docs/specification/runs.md#overrides).
 */
export function withOverride(step: CompiledStep, override: JsonMap): CompiledStep {
  const { id: _id, type: _type, depends_on: _dependsOn, on_error: _onError, ...fields } = override;
  const spec = withUsableTimeout({ ...step.spec, ...fields });
  return { ...step, spec, ...derived(spec) };
}

function link(graph: Graph): Map<string, CompiledStep> {
  const dependents = new Map<string, string[]>();
  for (const spec of graph.steps) {
    if (dependents.has(spec.id)) throw new Error(`Step id "${spec.id}" is used twice.`);
    dependents.set(spec.id, []);
  }
  const steps = new Map<string, CompiledStep>();
  for (const [index, published] of graph.steps.entries()) {
    const spec = withUsableTimeout(published);
    const dependencies = [...new Set(spec.depends_on ?? [])];
    for (const dependency of dependencies) {
      const list = dependents.get(dependency);
      if (list === undefined) throw new Error(`Step "${spec.id}" depends on "${dependency}", which does not exist.`);
      list.push(spec.id);
    }
    steps.set(spec.id, {
      spec,
      index,
      dependencies,
      dependents: dependents.get(spec.id) ?? [],
      ...derived(spec),
      approval: null,
      inner: innerGraph(spec),
    });
  }
  return steps;
}

function innerGraph(step: GraphStep): CompiledGraph | null {
  const steps = innerSteps(step);
  return steps === null ? null : compile({ steps });
}

function derived(spec: GraphStep): Pick<CompiledStep, 'retryCount' | 'retryDelayMs' | 'branches'> {
  const branching = spec.type === 'condition' && (spec.mode === undefined || spec.mode === 'branch');
  return {
    retryCount: Math.floor(bounded(spec.retry_count, { min: 0, max: MAX_RETRY_COUNT }) ?? 0),
    retryDelayMs: (bounded(spec.retry_delay_s, { min: 0, max: MAX_RETRY_DELAY_S }) ?? DEFAULT_RETRY_DELAY_S) * 1000,
    branches: branching ? { then: idSet(spec.then), else: idSet(spec.else) } : null,
  };
}

/**
 * Returns the step without an invalid `timeout_s`, and with the maximum instead of a longer one. A timer must be a
 * finite number: a heap that contains NaN fires none of its timers on time.
 */
function withUsableTimeout(spec: GraphStep): GraphStep {
  const timeout: JsonValue | undefined = spec.timeout_s;
  if (timeout === undefined) return spec;
  const usable = bounded(timeout, { min: 1, max: MAX_TIMEOUT_S });
  if (usable === timeout) return spec;
  const { timeout_s: _timeout, ...rest } = spec;
  return usable === undefined ? rest : { ...rest, timeout_s: usable };
}

/** Returns the number, at most `max`; undefined, which means the default, for values below `min` and for other types. */
function bounded(value: JsonValue | undefined, { min, max }: { min: number; max: number }): number | undefined {
  return typeof value === 'number' && value >= min ? Math.min(value, max) : undefined;
}

function idSet(value: JsonValue | undefined): ReadonlySet<string> {
  return new Set(Array.isArray(value) ? value.filter(id => typeof id === 'string') : []);
}

/** Orders the steps with Kahn's algorithm; among the possible next steps, the one published first. */
function topologicalOrder(steps: ReadonlyMap<string, CompiledStep>): string[] {
  const open = new Map<string, number>();
  const order: string[] = [];
  for (const [id, step] of steps) {
    open.set(id, step.dependencies.length);
    if (step.dependencies.length === 0) order.push(id);
  }
  // `order` grows during the loop: it is also the queue.
  for (const id of order) {
    for (const dependent of steps.get(id)?.dependents ?? []) {
      const left = (open.get(dependent) ?? 0) - 1;
      open.set(dependent, left);
      if (left === 0) order.push(dependent);
    }
  }
  if (order.length < steps.size) {
    const stuck = [...open].filter(([, left]) => left > 0).map(([id]) => id);
    throw new Error(`The graph has a cycle through ${stuck.map(id => `"${id}"`).join(', ')}.`);
  }
  return order;
}
