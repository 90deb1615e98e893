import {
  type CompiledGraph,
  type CompiledStep,
  compile,
  type Graph,
  type JsonMap,
  type JsonValue,
  type RunStartedData,
  type SkipReason,
} from '../../../orchestrator/core/index.ts';
import { type Draft, diff } from '../../workflows/edits/index.ts';
import type { RunState } from '../reading/run-state.ts';

/** A run that has ended, and the graph with which it is continued. */
export type Continued = {
  before: Graph;
  after: Graph;
  from: string;
  /** How the steps of the old run ended. */
  ended: RunState['steps'];
  started: RunStartedData;
  /** Results of the steps that completed, by their ids. */
  results: ReadonlyMap<string, JsonValue>;
};

/** How a step ended that does not run again: with a result, or skipped. */
type Kept = { result: JsonValue | undefined; skipped: SkipReason | null };

/** The fields that do not affect the result of a step that has succeeded. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  'position',
  'overridable',
  'retry_count',
  'retry_delay_s',
  'on_lost',
  'timeout_s',
]);

/**
 * Returns the part of a start that continues a run with another graph. It is an episode of `from`, of every step that
 * is new, changed or did not succeed, and of all their descendants. The other steps keep their results. A step that the
 * old run skipped because of a branch or a gate, or because it is disabled, is skipped again if the reason still
 * applies. A step that a person chose not to repeat is skipped again too.
 */
export function continuation(run: Continued): Pick<RunStartedData, 'mode' | 'trigger_steps' | 'seed_results'> {
  const graph = compile(run.after);
  const changed = changedSteps(run.before, run.after);
  const kept = new Map<string, Kept>();
  const named = new Map<string, JsonMap>();
  for (const id of graph.order) {
    const step = graph.steps.get(id);
    if (step === undefined) continue;
    const followsOn = step.dependencies.some(dependency => !kept.has(dependency));
    const wasNamed = Object.hasOwn(run.started.trigger_steps, id);
    const end = id === run.from || followsOn ? null : keptEnd(run, step, { graph, kept, changed, wasNamed });
    if (end !== null) {
      kept.set(id, end);
      continue;
    }
    // Descendants of an executed step belong to the episode without being named, but a gate opens only for a named
    // step.
    const opensGate = step.spec.gated === true && (id === run.from || wasNamed);
    if (followsOn && !opensGate) continue;
    named.set(id, changed.has(id) ? {} : (ownOf(run.started.trigger_steps, id) ?? {}));
  }
  return {
    mode: 'episode',
    trigger_steps: Object.fromEntries(named),
    seed_results: Object.fromEntries(
      [...kept].flatMap(([id, { result }]) => (result === undefined ? [] : [[id, result] as const])),
    ),
  };
}

/** Returns the steps of `after` that are new or differ in a field that affects their result. */
function changedSteps(before: Graph, after: Graph): Set<string> {
  const found = new Set<string>();
  for (const change of diff(draftOf(before), draftOf(after)).steps) {
    if (change.change === 'added') found.add(change.step);
    if (change.change !== 'changed') continue;
    const type = after.steps.find(({ id }) => id === change.step)?.type ?? '';
    if (change.fields.some(({ field }) => hasEffect(type, field))) found.add(change.step);
  }
  return found;
}

/**
 * Returns whether a field affects the result of a step that has succeeded. The branches of a condition
 * only affect its dependents.
 */
function hasEffect(type: string, field: string): boolean {
  if (field === 'then' || field === 'else') return type !== 'condition';
  if (field === 'name') return type === 'human_task';
  return !WITHOUT_EFFECT.has(field);
}

// The graphs were parsed when they were saved; the core's types are less precise.
const draftOf = (graph: Graph): Draft => ({
  name: '',
  description: '',
  graph: graph as unknown as Draft['graph'],
  run_setup: {},
});

type Known = {
  graph: CompiledGraph;
  kept: ReadonlyMap<string, Kept>;
  changed: ReadonlySet<string>;
  wasNamed: boolean;
};

/** Returns how a step ends that does not follow an executed step; null if the step must run. */
function keptEnd(run: Continued, step: CompiledStep, { graph, kept, changed, wasNamed }: Known): Kept | null {
  const { id } = step.spec;
  if (branchNotTaken(graph, step, kept)) return { result: undefined, skipped: 'branch_not_taken' };
  const old = run.ended.get(id);
  const isSame = !changed.has(id) && old !== undefined;
  if (isSame && old.status === 'completed') return { result: run.results.get(id), skipped: null };
  if (isSame && old.status === 'skipped' && old.skipReason === 'out_of_scope')
    return { result: ownOf(run.started.seed_results, id), skipped: 'out_of_scope' };
  // A person decided not to repeat this step: another run would repeat it under another idempotency key.
  if (isSame && old.status === 'skipped' && old.skipReason === 'not_repeated')
    return { result: undefined, skipped: 'not_repeated' };
  if (step.spec.gated === true && !wasNamed) return { result: undefined, skipped: 'out_of_scope' };
  return step.spec.disabled === true ? { result: undefined, skipped: 'step_disabled' } : null;
}

/** Returns whether a step is skipped because no edge from the steps before it is taken. */
function branchNotTaken(graph: CompiledGraph, step: CompiledStep, kept: ReadonlyMap<string, Kept>): boolean {
  const isTaken = (id: string): boolean => {
    const end = kept.get(id);
    if (end?.skipped === 'branch_not_taken') return false;
    const branches = graph.steps.get(id)?.branches ?? null;
    const taken = branchOf(end?.result);
    if (branches === null || taken === null) return true;
    const other = taken === 'then' ? 'else' : 'then';
    return branches[taken].has(step.spec.id) || !branches[other].has(step.spec.id);
  };
  return step.dependencies.length > 0 && !step.dependencies.some(isTaken);
}

function branchOf(result: JsonValue | undefined): 'then' | 'else' | null {
  if (result === null || typeof result !== 'object' || Array.isArray(result)) return null;
  const branch = ownOf(result, 'branch');
  return branch === 'then' || branch === 'else' ? branch : null;
}

const ownOf = <T>(values: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(values, key) ? values[key] : undefined;
