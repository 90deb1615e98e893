import { cascade, type Draft, emit, endedAuthored, hasEnded, markEnded, remainingInFlight, skip } from './draft.ts';
import type { CancelReason, Paid, PauseReason, RunError, RunStatus, SkipReason, StepError } from './events.ts';
import type { StepEnd } from './skips.ts';
import { effectiveStep, isAdded, isStarted, type RunState, stepState } from './state.ts';
import { openSteps } from './step-tree.ts';

/**
 * After the end of `step` was emitted: carries on, or ends the run if that is due. A run that is being stopped ends when
 * its last attempt ends; any other one when all steps have ended, even while paused.
 */
export function endStep(draft: Draft, step: string, end: StepEnd): void {
  markEnded(draft, step, end);
  settle(draft, () => cascade(draft, [step]));
}

/** Ends the run if it is due; `skips` adds the skips that follow from what was emitted, if the run goes on. */
export function settle(draft: Draft, skips: () => void): void {
  if (draft.state.stopRequested !== null) {
    if (remainingInFlight(draft) === 0) finishStop(draft, draft.state.stopRequested.by);
    return;
  }
  skips();
  if (draft.state.done + endedAuthored(draft) === draft.state.graph.order.length) changeStatus(draft, 'completed');
}

/** The code of a step that could not be paid: its type was never asked to do anything, so it costs nothing. */
export const INSUFFICIENT_CREDITS = 'insufficient_credits';
/** The code of a step that the budget of its run does not cover. */
export const BUDGET_SPENT = 'budget_spent';
/** The code of a step that the person for whose day the run counts may not pay for any more. */
export const AI_BUDGET_EXHAUSTED = 'ai_budget_exhausted';
const UNPAID: ReadonlySet<string> = new Set([INSUFFICIENT_CREDITS, BUDGET_SPENT, AI_BUDGET_EXHAUSTED]);

/** Whether a step failed with this code because it could not be paid. */
export const isUnpaid = (code: string): boolean => UNPAID.has(code);

/**
 * The step fails by its own doing. The run fails with it, unless the step is `on_error: continue`: then its dependents
 * run. A condition that branches always fails the run: nothing could say which branch is taken.
 * So does a lack of credits: nothing after the step could be paid either.
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
 * The step fails and with it the run (docs/specification/runs.md#states-and-transitions); while stopping, the run
 * still ends `stopped`. The failure of an added step is left to its parent. `causedBy`: the added step for whose failure
 * its parent fails.
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

/** The usage and cost of an attempt, in the form of the event that ends it: zero values are absent. */
export function paidOf({ consumed, credits }: Paid): Paid {
  if (consumed === undefined) return credits ? { credits } : {};
  return credits ? { consumed, credits } : { consumed };
}

/** Ends what has not ended and then the run, as `stopped`. */
export function finishStop(draft: Draft, by: string, reason?: PauseReason): void {
  endAllOthers(draft, { cancel: 'RUN_STOPPED', skip: 'run_stopped' });
  changeStatus(draft, 'stopped', { by, ...(reason && { reason }) });
}

/** Cancels one begun step. */
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

/**
 * Ends the steps that were added under a step and have not ended, of one item or of all: each before its parent, so
 * that nothing outlives it.
 */
export function endAdded(draft: Draft, parent: string, ending: Ending, index?: number): void {
  const { cancel, causedBy, skip: reason } = ending;
  for (const id of openSteps(draft.state, parent, index)) {
    if (hasEnded(draft, id)) continue;
    if (isStarted(stepState(draft.state, id))) cancelStep(draft, id, cancel, causedBy);
    else skip(draft, id, reason);
  }
}

/**
 * First what was added, then what was begun, then what was not; each in the graph's order. O(steps), once in a run.
 */
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
