import { type Command, CommandRefused } from './commands.ts';
import { emit, newDraft } from './draft.ts';
import { cancelStep, changeStatus, finishStop } from './ending.ts';
import type { RunEvent } from './events.ts';
import { isTerminal, type RunState } from './state.ts';

type Of<T extends Command['type']> = Extract<Command, { type: T }>;

/** Pauses the run: no further step begins; attempts in flight may finish. */
export function pause(state: RunState, command: Of<'pause'>, now: number): RunEvent[] {
  refuseUnlessSteerable(state);
  if (state.status === 'paused') return [];
  const draft = newDraft(state, now);
  const { by, reason } = command;
  changeStatus(draft, 'paused', { by, ...(reason && { reason }) });
  return draft.events;
}

export function resume(state: RunState, command: Of<'resume'>, now: number): RunEvent[] {
  refuseUnlessSteerable(state);
  if (state.status === 'running') return [];
  const draft = newDraft(state, now);
  changeStatus(draft, 'running', { by: command.by });
  return draft.events;
}

/**
 * Immediate: ends everything now. Graceful: attempts in flight finish first, and so do called runs, which are stopped
 * gracefully too; steps that only wait (human tasks, waits, retries) end now. Without attempts in flight, a graceful
 * stop is the same as an immediate one.
 */
export function stop(state: RunState, command: Of<'stop'>, now: number): RunEvent[] {
  refuseUnlessActive(state);
  const draft = newDraft(state, now);
  if (command.mode === 'immediate' || state.inFlight.size + state.calling.size === 0) {
    finishStop(draft, command.by);
    return draft.events;
  }
  if (state.stopRequested !== null) return [];
  emit(draft, { type: 'stop_requested', data: { mode: 'graceful', by: command.by } });
  for (const step of state.waiting) cancelStep(draft, step, 'RUN_STOPPED');
  for (const step of state.sleeping) cancelStep(draft, step, 'RUN_STOPPED');
  for (const step of state.retrying) cancelStep(draft, step, 'RUN_STOPPED');
  return draft.events;
}

/** Stops a run whose log shows that its charges exceed its budget. */
export function stopOverBudget(state: RunState, now: number): RunEvent[] {
  const { started, credits, status } = state;
  if (started?.budget === undefined || credits <= started.budget || isTerminal(status)) return [];
  const draft = newDraft(state, now);
  finishStop(draft, started.started_by, 'budget_spent');
  return draft.events;
}

/** Throws CommandRefused for a run that has not started or has ended. */
export function refuseUnlessActive(state: RunState): void {
  if (state.status === null) throw new CommandRefused('run_not_started', 'The run has not started.');
  if (isTerminal(state.status))
    throw new CommandRefused('run_already_ended', `The run has already ended: ${state.status}.`);
}

function refuseUnlessSteerable(state: RunState): void {
  refuseUnlessActive(state);
  if (state.stopRequested !== null) throw new CommandRefused('run_stopping', 'The run is being stopped.');
}
