import { attemptOf, emitLog, giveUp, retryOrFail } from './attempts.ts';
import { boundedCall } from './call-bounds.ts';
import type { Command } from './commands.ts';
import { emit, newDraft } from './draft.ts';
import { endStep, stepFails } from './ending.ts';
import type { Paid, RunEvent, StepError } from './events.ts';
import { lineageOf, MAX_CALL_DEPTH } from './lineage.ts';
import type { RunState, StepCall, StepState } from './state.ts';

type Of<T extends Command['type']> = Extract<Command, { type: T }>;

/** Handles a step that calls a run and waits for it. A run that is being stopped calls none. */
export function attemptCalling(state: RunState, command: Of<'attempt_calling'>, now: number): RunEvent[] {
  if (attemptOf(state, command) === undefined) return [];
  const draft = newDraft(state, now);
  emitLog(draft, command);
  const { step, attempt, call } = command;
  const bounded = boundedCall(state, step, call, now);
  if (state.stopRequested !== null) giveUp(draft, step);
  else if (depthOf(state) >= MAX_CALL_DEPTH) stepFails(draft, step, TOO_DEEP, command);
  else if (bounded === null) stepFails(draft, step, NOTHING_LEFT, command);
  else emit(draft, { type: 'child_called', step, attempt, data: bounded });
  return draft.events;
}

const TOO_DEEP: StepError = {
  code: 'calls_too_deep',
  message: `The run was called by a run that was called by another one, ${MAX_CALL_DEPTH} times: it may call no further one.`,
};

const NOTHING_LEFT: StepError = {
  code: 'agent_budget_spent',
  message: 'The rest of the budget of the agent pays for no other run.',
};

/** Returns the number of calls that lead to the run. */
const depthOf = ({ runId, started }: RunState): number => lineageOf(runId, started).depth;

/** Ends a step that calls a run without waiting, once that run has started. */
export function childStarted(state: RunState, command: Of<'child_started'>, now: number): RunEvent[] {
  const found = waitingCall(state, command);
  if (found === null || !found.call.detach) return [];
  const draft = newDraft(state, now);
  const { step, run_id } = command;
  const { attempt } = found.step;
  emit(draft, { type: 'step_completed', step, attempt, data: { result: { run_id }, ...creditsOf(command) } });
  endStep(draft, step, { status: 'completed' });
  return draft.events;
}

/**
 * Handles the end of the run that a step waited for: the step continues, is retried with another run, or fails. This also
 * happens while the run is paused; the dependents then wait for the resume.
 */
export function childEnded(state: RunState, command: Of<'child_ended'>, now: number): RunEvent[] {
  const found = waitingCall(state, command);
  if (found === null) return [];
  const draft = newDraft(state, now);
  const { step, run_id, end, random } = command;
  const { attempt } = found.step;
  const isCounted = found.call.budget !== undefined || state.started?.budget !== undefined;
  const spent = isCounted && end.spent ? { spent: end.spent } : {};
  emit(draft, { type: 'child_ended', step, attempt, data: { run_id, status: end.status, ...spent } });
  if (state.stopRequested !== null) giveUp(draft, step);
  else if (end.status !== 'completed')
    retryOrFail(draft, step, { error: end.error, retryable: end.retryable, random, ...creditsOf(command) });
  return draft.events;
}

/** Handles the timeout of a step that waits for a called run. */
export function callTimedOut(state: RunState, command: Of<'call_timed_out'>, now: number): RunEvent[] {
  const { step, random } = command;
  const call = state.calling.has(step) ? state.steps.get(step)?.call : undefined;
  if (state.status !== 'running' || state.stopRequested !== null || call === undefined) return [];
  if (call.deadline === null || now < call.deadline) return [];
  const draft = newDraft(state, now);
  const error = { code: 'step_timed_out', message: `The child run ${call.runId} did not end in time.` };
  retryOrFail(draft, step, { error, retryable: true, random, ...creditsOf(command) });
  return draft.events;
}

/** Returns the step if it waits for the given run; otherwise null. */
function waitingCall(
  state: RunState,
  { step: id, run_id }: { step: string; run_id: string },
): { step: StepState; call: StepCall } | null {
  if (!state.calling.has(id)) return null;
  const step = state.steps.get(id);
  return step?.call?.runId === run_id ? { step, call: step.call } : null;
}

const creditsOf = ({ credits }: Paid): Paid => (credits ? { credits } : {});
