import type { Branch, CompiledStep } from './compile.ts';
import type { JsonValue, SkipReason } from './events.ts';
import { effectiveStep, isAdded, isNamed, type RunState, type StepState } from './state.ts';
import { type StepResult, StoredValue } from './stored-value.ts';

/** The end of a step, as far as it matters to its dependents. */
export type StepEnd = Pick<StepState, 'status' | 'skipReason' | 'branch' | 'error' | 'approved'>;

/**
 * Decides about a step whose dependencies have all ended: the reason for which it is skipped, `ready`, or `held` if a
 * dependency failed and the run with it (the step ends with the run).
 */
export type Verdict = SkipReason | 'ready' | 'held';

/**
 * Decides about a step whose dependencies have all ended (docs/specification/steps.md#skips). `endOf` returns the end
 * of each dependency. The order of precedence is branch, scope, disabled.
 */
export function verdict(state: RunState, id: string, endOf: (step: string) => StepEnd): Verdict {
  const step = effectiveStep(state, id);
  // The caller of the episode asked for this step by name, so steps outside of the episode cannot exclude it.
  const insist = state.scope !== null && isNamed(state, id);
  let isTaken = step.dependencies.length === 0;
  let isLeftOut = false;
  for (const dependency of step.dependencies) {
    const end = endOf(dependency);
    if (endedBadly(end)) return 'held';
    const counts = !insist || (state.scope?.has(dependency) === true && end.skipReason !== 'out_of_scope');
    if (!counts) isTaken = true;
    else if (end.branch !== undefined && excludes(effectiveStep(state, dependency), end.branch, id)) isLeftOut = true;
    else if (end.skipReason !== 'branch_not_taken') isTaken = true;
  }
  if (step.approval !== null && endOf(step.approval).approved !== true) return 'not_approved';
  if (!isTaken || (isLeftOut && !branchesDecideEdges(state))) return 'branch_not_taken';
  if (isOutOfScope(state, id, step)) return 'out_of_scope';
  return step.spec.disabled === true ? 'step_disabled' : 'ready';
}

/**
 * Returns false for a run from before docs/adr/0023, in which a branch that is not taken skips its steps whatever their
 * other dependencies.
 */
function branchesDecideEdges({ started }: RunState): boolean {
  return started?.branch_rule === 'edges';
}

/** Returns the branch that a result names, if the step is a condition that branches. */
export function takenBranch(step: CompiledStep, result: StepResult | undefined): Branch | undefined {
  if (step.branches === null || result === null || typeof result !== 'object' || Array.isArray(result))
    return undefined;
  // A condition's result has a few bytes, so it is never stored externally.
  if (result instanceof StoredValue) return undefined;
  const branch = Object.hasOwn(result, 'branch') ? result.branch : undefined;
  return branch === 'then' || branch === 'else' ? branch : undefined;
}

/** Returns the result that the run was started with for a step that it excludes. */
export function seedOf(state: RunState, step: string, reason: SkipReason): JsonValue | undefined {
  if (reason !== 'out_of_scope' || state.started === null || isAdded(state, step)) return undefined;
  const seeds = state.started.seed_results;
  return Object.hasOwn(seeds, step) ? seeds[step] : undefined;
}

/** Returns the end of a skipped step. In an episode, a condition outside of it takes the branch that its seed names. */
export function skippedEnd(state: RunState, id: string, reason: SkipReason): StepEnd {
  const branch = state.scope === null ? undefined : takenBranch(effectiveStep(state, id), seedOf(state, id, reason));
  return { status: 'skipped', skipReason: reason, branch };
}

function endedBadly(end: StepEnd): boolean {
  if (end.status === 'skipped') return end.skipReason === 'blocked' || end.skipReason === 'run_stopped';
  return end.status !== 'completed' && end.error === undefined;
}

/** Returns whether the condition names the step only in the branch that it did not take. */
function excludes(condition: CompiledStep, branch: Branch, dependent: string): boolean {
  if (condition.branches === null) return false;
  const taken = condition.branches[branch];
  const other = condition.branches[branch === 'then' ? 'else' : 'then'];
  return other.has(dependent) && !taken.has(dependent);
}

function isOutOfScope(state: RunState, id: string, step: CompiledStep): boolean {
  // Steps are added only under a step that is in scope.
  if (state.scope !== null && !state.scope.has(id) && !isAdded(state, id)) return true;
  return step.spec.gated === true && !isNamed(state, id);
}
