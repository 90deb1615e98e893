import type { Command, LeaderTerm } from './commands.ts';
import { MAX_RETRY_DELAY_S, MAX_TIMEOUT_S } from './compile.ts';
import { type Draft, emit, newDraft } from './draft.ts';
import { BUDGET_SPENT, cancelStep, endStep, finishStop, paidOf, settle, stepFails } from './ending.ts';
import type { Paid, RunEvent, TaskRequest } from './events.ts';
import { growthProblem } from './grow.ts';
import { takenBranch } from './skips.ts';
import { effectiveStep, isTerminal, type RunState, retryIsDue, type StepState, stepState } from './state.ts';

/**
 * If the process dies this often during a step, the step is considered the cause and fails, instead of repeating
 * forever. A process that shut down, or lost the leadership and survived, does not count.
 */
export const MAX_LOST_ATTEMPTS = 5;
/** The error code of a step that fails for this reason. */
export const LOST_REPEATEDLY = 'attempt_lost_repeatedly';
const MAX_RETRY_DELAY_MS = MAX_RETRY_DELAY_S * 1000;
/** A provider that asks for a longer delay is called again after a day. */
const MAX_RETRY_AFTER_MS = MAX_TIMEOUT_S * 1000;

type Of<T extends Command['type']> = Extract<Command, { type: T }>;

/** Gives a step its slot. A step that is running according to the log was lost in a crash, so it is started again. */
export function startAttempt(state: RunState, command: Of<'start_attempt'>, now: number): RunEvent[] {
  const step = state.steps.get(command.step);
  if (step === undefined || state.status !== 'running' || state.stopRequested !== null) return [];
  if (!mayStart(step, now)) return [];
  const draft = newDraft(state, now);
  if (step.status === 'running' && deathsDuring(step, command.leader) >= MAX_LOST_ATTEMPTS) {
    const message = `The process died ${MAX_LOST_ATTEMPTS} times while the step was running.`;
    stepFails(draft, command.step, { code: LOST_REPEATEDLY, message });
  } else {
    const data = command.leader === undefined ? {} : { term: command.leader.term };
    emit(draft, { type: 'step_started', step: command.step, attempt: step.attempt + 1, data });
  }
  return draft.events;
}

export function attemptSucceeded(state: RunState, command: Of<'attempt_succeeded'>, now: number): RunEvent[] {
  if (attemptOf(state, command) === undefined) return [];
  const draft = newDraft(state, now);
  emitLog(draft, command);
  const { step, attempt, result, turn, digest, context } = command;
  const ofAgent = {
    ...(turn !== undefined && { turn }),
    ...(digest !== undefined && { digest }),
    ...(context !== undefined && { context }),
  };
  emit(draft, { type: 'step_completed', step, attempt, data: { result, ...paidOf(command), ...ofAgent } });
  endStep(draft, step, { status: 'completed', branch: takenBranch(effectiveStep(state, step), result) });
  return draft.events;
}

/** Handles an attempt that waits for people. A run that is being stopped asks no more people. */
export function attemptWaiting(state: RunState, command: Of<'attempt_waiting'>, now: number): RunEvent[] {
  if (attemptOf(state, command) === undefined) return [];
  const draft = newDraft(state, now);
  const { step, attempt, task } = command;
  if (state.stopRequested !== null) giveUp(draft, step);
  else emit(draft, { type: 'task_pending', step, attempt, data: withUsableDueTime(task) });
  return draft.events;
}

/** Steps are to be added under the step. A run that is being stopped adds none. */
export function attemptExpanding(state: RunState, command: Of<'attempt_expanding'>, now: number): RunEvent[] {
  if (attemptOf(state, command) === undefined) return [];
  const draft = newDraft(state, now);
  emitLog(draft, command);
  const { step, attempt, plan, items, agent } = command;
  const problem = growthProblem(state, step, plan);
  if (state.stopRequested !== null) giveUp(draft, step);
  else if (problem !== null) stepFails(draft, step, problem, command);
  else emit(draft, { type: 'step_expanded', step, attempt, data: { plan, items, ...(agent && { agent }) } });
  return draft.events;
}

/** Retries the step if the error, the step and the run allow it; otherwise the step fails, and usually the run with it. */
export function attemptFailed(state: RunState, command: Of<'attempt_failed'>, now: number): RunEvent[] {
  if (attemptOf(state, command) === undefined) return [];
  const draft = newDraft(state, now);
  emitLog(draft, command);
  if (command.error.code === BUDGET_SPENT && state.started?.budget !== undefined)
    finishStop(draft, state.started.started_by, 'budget_spent');
  else retryOrFail(draft, command.step, command);
  return draft.events;
}

type Failure = Pick<Of<'attempt_failed'>, 'error' | 'retryable' | 'random' | 'retryAfterMs'> & Paid;

/** Fails the current attempt of a step. Another attempt follows if the error, the step and the run allow it. */
export function retryOrFail(draft: Draft, id: string, failure: Failure): void {
  const { state } = draft;
  const { failures, attempt } = stepState(state, id);
  const { retryCount, retryDelayMs } = effectiveStep(state, id);
  const { error, retryable, random, retryAfterMs } = failure;
  if (!retryable || failures >= retryCount || state.stopRequested !== null) {
    stepFails(draft, id, error, failure);
    return;
  }
  const delay = Math.max(backoff(retryDelayMs, failures, random), retryAfter(retryAfterMs));
  const data = { attempt, error, delay_ms: Math.ceil(delay), ...paidOf(failure) };
  emit(draft, { type: 'step_retrying', step: id, attempt, data });
}

export function logAttempt(state: RunState, command: Of<'attempt_log'>, now: number): RunEvent[] {
  if (attemptOf(state, command) === undefined || command.lines.length === 0) return [];
  const draft = newDraft(state, now);
  const { step, attempt, lines } = command;
  emit(draft, { type: 'step_log', step, attempt, data: { lines } });
  return draft.events;
}

/** Ends a run that is being stopped, after a crash, without the attempts that were in flight. */
export function abandonAttempt(state: RunState, command: Of<'abandon_attempt'>, now: number): RunEvent[] {
  if (state.stopRequested === null || isTerminal(state.status) || !state.inFlight.has(command.step)) return [];
  const draft = newDraft(state, now);
  giveUp(draft, command.step);
  return draft.events;
}

/** Returns whether a process is known to have died during an attempt that is in flight by the log. */
export function diedDuring(state: RunState, leader: LeaderTerm): boolean {
  for (const step of state.inFlight) if (deathsDuring(stepState(state, step), leader) > 0) return true;
  return false;
}

/** Returns how often the process is known to have died during an attempt of the step. An attempt in flight does not count. */
function deathsDuring({ lost, lostIn = [], term }: StepState, leader: LeaderTerm | undefined): number {
  const isDeath = (of: number | undefined) => of === undefined || leader?.survived.has(of) !== true;
  return lost + lostIn.filter(isDeath).length + Number(isDeath(term));
}

function mayStart(step: StepState, now: number): boolean {
  switch (step.status) {
    case 'ready':
    case 'running':
      return true;
    case 'retrying':
      return retryIsDue(step, now);
    case 'pending':
    case 'waiting':
    case 'expanded':
    case 'sleeping':
    case 'calling':
    case 'completed':
    case 'failed':
    case 'cancelled':
    case 'skipped':
      return false;
  }
}

/**
 * Returns the step of an outcome; undefined if the outcome is late: its attempt is no longer the current one, or the
 * step or run has ended.
 */
export function attemptOf(state: RunState, outcome: { step: string; attempt: number }): StepState | undefined {
  if (isTerminal(state.status)) return undefined;
  const step = state.steps.get(outcome.step);
  return step?.status === 'running' && step.attempt === outcome.attempt ? step : undefined;
}

/** Cancels a step of a run that is being stopped. The run ends when its last attempt has ended. */
export function giveUp(draft: Draft, step: string): void {
  cancelStep(draft, step, 'RUN_STOPPED');
  settle(draft, () => {});
}

/** Half of the delay is fixed and half is random, so that steps that failed together are not retried together. */
function backoff(baseMs: number, failuresBefore: number, random: number): number {
  return Math.min(MAX_RETRY_DELAY_MS, baseMs * 2 ** failuresBefore) * (0.5 + random / 2);
}

function retryAfter(ms = 0): number {
  // False for NaN too.
  return ms > 0 ? Math.min(ms, MAX_RETRY_AFTER_MS) : 0;
}

/** JSON has no NaN and no infinity: the log would contain null, and memory another value. */
function withUsableDueTime(task: TaskRequest): TaskRequest {
  return task.due_at === null || Number.isFinite(task.due_at) ? task : { ...task, due_at: null };
}

export function emitLog(draft: Draft, outcome: { step: string; attempt: number; log?: string[] }): void {
  const { step, attempt, log } = outcome;
  if (log !== undefined && log.length > 0) emit(draft, { type: 'step_log', step, attempt, data: { lines: log } });
}
