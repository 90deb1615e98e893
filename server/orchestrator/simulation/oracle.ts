import { type GraphStep, type JsonValue, type SkipReason, StoredValue } from '../core/index.ts';
import type { History } from './history.ts';
import type { StepPlan } from './plans.ts';

/**
 * Decides, from docs/specification/steps.md#skips only and without optimization, about a step whose dependencies have
 * all ended without failing the run: `run`, or the reason why the step is skipped.
 */
export function expectedFate(history: History, id: string): 'run' | SkipReason {
  const step = effectiveFields(history, history.step(id).spec);
  const dependencies = history.step(id).dependencies;
  const named = isNamed(history, id);
  const inEpisode = history.started?.mode === 'episode';

  // "runs only the named steps": what lies outside of an episode does not skip its own steps.
  const insists = named && inEpisode;
  const isTaken = (dependency: string) =>
    (insists && !ranInEpisode(history, dependency)) || isEdgeTaken(history, dependency, id);
  if (dependencies.length > 0 && !dependencies.some(isTaken)) return 'branch_not_taken';

  if (inEpisode && !inScope(history, id)) return 'out_of_scope';
  if (step.gated === true && !named) return 'out_of_scope';
  if (step.disabled === true) return 'step_disabled';
  const approval = history.steps.get(`${id}.ok`);
  if (approval !== undefined && approval.answer?.approved !== true) return 'not_approved';
  return 'run';
}

/**
 * Returns the fields of a step in this run: those of `trigger_steps` replace the step's own, except for id, type,
 * dependencies and on_error.
 */
export function effectiveFields(history: History, spec: GraphStep): GraphStep {
  const override = isNamed(history, spec.id) ? history.started?.trigger_steps[spec.id] : undefined;
  return { ...spec, ...override, id: spec.id, type: spec.type, depends_on: spec.depends_on, on_error: spec.on_error };
}

function isNamed(history: History, id: string): boolean {
  return Object.keys(history.started?.trigger_steps ?? {}).includes(id);
}

/** Whether the step or one of its ancestors is named. */
function inScope(history: History, id: string): boolean {
  if (history.step(id).added !== null) return true;
  return isNamed(history, id) || history.step(id).dependencies.some(dependency => inScope(history, dependency));
}

function ranInEpisode(history: History, id: string): boolean {
  return inScope(history, id) && reasonOf(history, id) !== 'out_of_scope';
}

function reasonOf(history: History, id: string): SkipReason | undefined {
  const end = history.step(id).end;
  return end?.type === 'step_completed' && 'skipped' in end.data ? end.data.reason : undefined;
}

/** Whether the edge from a step that has ended to a dependent step is taken, outside of episodes. */
export function isEdgeTaken(history: History, from: string, to: string): boolean {
  if (reasonOf(history, from) === 'branch_not_taken') return false;
  const branch = branchOf(history, from);
  if (branch === null) return true;
  const fields = effectiveFields(history, history.step(from).spec);
  const name = history.step(to).added?.name ?? to;
  const naming = (['then', 'else'] as const).filter(each => {
    const list = fields[each];
    return Array.isArray(list) && list.includes(name);
  });
  return naming.length === 0 || naming.includes(branch);
}

/** Returns the branch that a condition took; null for any other step. */
function branchOf(history: History, id: string): 'then' | 'else' | null {
  const { type, mode } = effectiveFields(history, history.step(id).spec);
  if (type !== 'condition' || mode === 'validate') return null;
  const result = resultOf(history, id);
  const branch = result !== null && typeof result === 'object' && !Array.isArray(result) ? result.branch : undefined;
  return branch === 'then' || branch === 'else' ? branch : null;
}

function resultOf(history: History, id: string): JsonValue {
  const end = history.step(id).end;
  if (end?.type !== 'step_completed') return null;
  // The result of a condition with branches is never stored externally.
  if (!('skipped' in end.data)) return end.data.result instanceof StoredValue ? null : end.data.result;
  if (end.data.reason !== 'out_of_scope' || history.started?.mode !== 'episode') return null;
  return Object.entries(history.started.seed_results).find(([step]) => step === id)?.[1] ?? null;
}

/** Returns the number of retries of a step: 0 if the value is not a number, and at most ten. */
export function retriesOf({ retry_count }: GraphStep): number {
  const count: unknown = retry_count;
  return typeof count === 'number' && count >= 0 ? Math.min(10, Math.floor(count)) : 0;
}

/**
 * Whether the run continues after the step has failed. It does not after a condition with branches, which would take
 * neither branch.
 */
export function mayContinue({ on_error, type, mode }: GraphStep): boolean {
  return on_error === 'continue' && (type !== 'condition' || (mode !== undefined && mode !== 'branch'));
}

/** Whether the step fails when nothing disturbs it. */
export function fails(step: GraphStep, plan: StepPlan): boolean {
  const { type } = step;
  if (type === 'human_task' || type === 'wait') return false;
  if (type === 'of_another_server') return true;
  switch (plan.kind) {
    case 'works':
    case 'tight':
    case 'poison':
    case 'chatty':
      return plan.failures > retriesOf(step) || (plan.failures > 0 && !plan.retryable);
    case 'hangs':
    case 'throws':
    case 'not-json':
    case 'too-deep':
    case 'too-large':
    case 'unstorable':
      return true;
    case 'endless':
      return false;
  }
}
