import type { Graph, GraphStep } from './graph.ts';

export type CompiledStep = {
  readonly spec: GraphStep;
  readonly index: number;
  readonly dependencies: readonly string[];
  readonly dependents: readonly string[];
  readonly retryCount: number;
  readonly retryDelayMs: number;
  /** Only for `condition` in branch mode: which dependents belong to which branch. */
  readonly branches: { readonly then: ReadonlySet<string>; readonly else: ReadonlySet<string> } | null;
};

/** A published graph, compiled once per version and shared by all its runs; immutable. */
export type CompiledGraph = {
  readonly steps: ReadonlyMap<string, CompiledStep>;
  /** Step ids, dependencies before dependents. */
  readonly order: readonly string[];
  /** All ancestors of a step (transitive dependencies). Computed on first use and kept. */
  ancestors(step: string): ReadonlySet<string>;
};

/**
 * Compiles a valid graph. Throws an Error on a duplicate id, an unknown dependency or a cycle: publishing has refused
 * those, so here they are a defect.
 */
export function compile(_graph: Graph): CompiledGraph {
  throw new Error('not written yet');
}
