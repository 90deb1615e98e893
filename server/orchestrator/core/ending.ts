import { cascade, type Draft, emit, endedAuthored, hasEnded, markEnded, remainingInFlight, skip } from './draft.ts';
import type { CancelReason, Paid, PauseReason, RunError, RunStatus, SkipReason, StepError } from './events.ts';
import type { StepEnd } from './skips.ts';
import { effectiveStep, isAdded, isStarted, type RunState, stepState } from './state.ts';
import { openSteps } from './step-tree.ts';

/**
 * Call this after emitting the end of `step`: continues the run, or ends it if that is due. A run that is being stopped
 * ends when its last attempt ends; any other run ends when all steps have ended, even while paused.
 */
export function endStep(draft: Draft, step: string, end: StepEnd): void {
  markEnded(draft, step, end);
  settle(draft, () => cascade(draft, [step]));
}

/** Ends the run if it is due. Otherwise `skips` adds the skips that follow from the emitted events. */
export function settle(draft: Draft, skips: () => void): void {
  if (draft.state.stopRequested !== null) {
    if (remainingInFlight(draft) === 0) finishStop(draft, draft.state.stopRequested.by);
    return;
  }
  skips();
  if (draft.state.done + endedAuthored(draft) === draft.state.graph.order.length) changeStatus(draft, 'completed');
}

/** The error code of a step that the workspace could not pay for. The step was never executed, so it costs nothing. */
export const INSUFFICIENT_CREDITS = 'insufficient_credits';
/** The error code of a step that the budget of its run does not cover. */
export const BUDGET_SPENT = 'budget_spent';
/** The error code of a step that would exceed the daily limit of the person whom the run counts for. */
export const AI_BUDGET_EXHAUSTED = 'ai_budget_exhausted';
const UNPAID: ReadonlySet<string> = new Set([INSUFFICIENT_CREDITS, BUDGET_SPENT, AI_BUDGET_EXHAUSTED]);

/** Returns whether this is the code of a step that failed because it could not be paid. */
export const isUnpaid = (code: string): boolean => UNPAID.has(code);

/**
 * Fails a step for its own error. The run fails too, unless the step is `on_error: continue`: then its dependents run.
 * A condition that branches always fails the run, because no branch can be chosen. A lack of credits also fails the
 * run, because no later step could be paid either.
 */
export function stepFails(draft: Draft, step: string, error: StepError, paid: Paid = {}, causedBy?: string): void {
  const { spec, branches } = effectiveStep(draft.state, step);
  const continues = spec.on_error === 'continue' && branches === null && !isUnpaid(error.code);
  if (!continues || draft.state.stopRequested !== null) {
    failStep(draft, step, error, paid, causedBy === undefined ? {} : { causedBy });
    return;
  }
  const { attempt } = stepState(draft.state, step);
  const cause = causedBy === undefined ? {} : { caused_by_step_id: causedBy };
  const data = { error, continues: true as const, ...cause, ...paidOf(paid) };
  emit(draft, { type: 'step_failed', step, attempt, data });
  endStep(draft, step, { status: 'failed', error });
}

/**
 * Fails the step and with it the run (docs/specification/runs.md#states-and-transitions); a run that is being stopped
 * still ends `stopped`. The parent of an added step handles its failure. `causedBy`: the added step whose failure fails
 * its parent.
 */
export function failStep(
  draft: Draft,
  step: string,
  error: StepError,
  paid: Paid = {},
  { attempt = stepState(draft.state, step).attempt, causedBy }: { attempt?: number; causedBy?: string } = {},
): void {
  const isTolerated = isAdded(draft.state, step);
  const data = {
    error,
    ...(isTolerated && { tolerated: true as const }),
    ...(causedBy !== undefined && { caused_by_step_id: causedBy }),
    ...paidOf(paid),
  };
  emit(draft, { type: 'step_failed', step, attempt, data });
  if (draft.state.stopRequested !== null) {
    endStep(draft, step, { status: 'failed' });
    return;
  }
  markEnded(draft, step, { status: 'failed' });
  if (isTolerated) return;
  endAllOthers(draft, { cancel: 'run_failed', causedBy: step, skip: 'blocked' });
  changeStatus(draft, 'failed', { error: { code: error.code, message: error.message, step_id: step } });
}

/** Returns the usage and cost of an attempt in the form of the event that ends it, in which zero values are absent. */
export function paidOf({ consumed, credits }: Paid): Paid {
  if (consumed === undefined) return credits ? { credits } : {};
  return credits ? { consumed, credits } : { consumed };
}

/** Ends all open steps and then the run, as `stopped`. */
export function finishStop(draft: Draft, by: string, reason?: PauseReason): void {
  endAllOthers(draft, { cancel: 'RUN_STOPPED', skip: 'run_stopped' });
  changeStatus(draft, 'stopped', { by, ...(reason && { reason }) });
}

/** Cancels a started step. */
export function cancelStep(draft: Draft, step: string, reason: CancelReason, causedBy?: string): void {
  const { attempt } = stepState(draft.state, step);
  const cause = causedBy === undefined ? {} : { caused_by_step_id: causedBy };
  emit(draft, { type: 'step_cancelled', step, attempt, data: { cancelled: true, reason, ...cause } });
  markEnded(draft, step, { status: 'cancelled' });
}

type StatusDetails = { error?: RunError; by?: string; reason?: PauseReason };

export function changeStatus(draft: Draft, to: RunStatus, more: StatusDetails = {}): void {
  emit(draft, { type: 'state_changed', data: { from: statusOf(draft.state), to, ...more } });
}

type Ending = { cancel: CancelReason; causedBy?: string; skip: SkipReason };

/** Ends the open steps that were added under a step, for one item or for all. Each ends before its parent, so that none outlives it. */
export function endAdded(draft: Draft, parent: string, ending: Ending, index?: number): void {
  const { cancel, causedBy, skip: reason } = ending;
  for (const id of openSteps(draft.state, parent, index)) {
    if (hasEnded(draft, id)) continue;
    if (isStarted(stepState(draft.state, id))) cancelStep(draft, id, cancel, causedBy);
    else skip(draft, id, reason);
  }
}

/** Ends the added steps first, then the started ones, then the others; each group in the graph's order. O(steps), once per run. */
function endAllOthers(draft: Draft, ending: Ending): void {
  const notStarted: string[] = [];
  for (const parent of draft.state.grown?.parents.keys() ?? [])
    if (!isAdded(draft.state, parent)) endAdded(draft, parent, ending);
  for (const id of draft.state.graph.order) {
    if (hasEnded(draft, id)) continue;
    if (isStarted(stepState(draft.state, id))) cancelStep(draft, id, ending.cancel, ending.causedBy);
    else notStarted.push(id);
  }
  for (const id of notStarted) skip(draft, id, ending.skip);
}

function statusOf(state: RunState): RunStatus {
  if (state.status === null) throw new Error(`Run ${state.runId} has not started.`);
  return state.status;
}
