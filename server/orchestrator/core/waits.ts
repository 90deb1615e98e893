import { attemptOf, giveUp } from './attempts.ts';
import type { Command } from './commands.ts';
import { emit, newDraft } from './draft.ts';
import { endStep } from './ending.ts';
import type { RunEvent } from './events.ts';
import type { RunState } from './state.ts';

/** The maximum wait: the same day of the next year is never further away. */
export const MAX_WAIT_S = 366 * 86_400;

type Of<T extends Command['type']> = Extract<Command, { type: T }>;

/** Lets a step sleep until a given time, without an attempt. A run that is being stopped does not begin to wait. */
export function attemptSleeping(state: RunState, command: Of<'attempt_sleeping'>, now: number): RunEvent[] {
  if (attemptOf(state, command) === undefined) return [];
  const draft = newDraft(state, now);
  const { step, attempt } = command;
  if (state.stopRequested !== null) giveUp(draft, step);
  else emit(draft, { type: 'step_waiting', step, attempt, data: { until: usableTime(command.until, now) } });
  return draft.events;
}

/** Ends a wait that is due. While the run is paused, the step keeps waiting; its time does not move. */
export function wake(state: RunState, { step, credits }: Of<'wake'>, now: number): RunEvent[] {
  const { until, attempt = 0 } = state.steps.get(step) ?? {};
  if (state.status !== 'running' || state.stopRequested !== null) return [];
  if (!state.sleeping.has(step) || until === undefined || now < until) return [];
  const draft = newDraft(state, now);
  // `until` is a keyword of Lua.
  const result = { waited_until: new Date(until).toISOString() };
  emit(draft, { type: 'step_completed', step, attempt, data: { result, ...(credits && { credits }) } });
  endStep(draft, step, { status: 'completed' });
  return draft.events;
}

/** Returns a valid time: a heap of timers with NaN fires none of them on time, and infinity is no date. */
function usableTime(until: number, now: number): number {
  return Number.isFinite(until) ? Math.min(Math.max(until, now), now + MAX_WAIT_S * 1000) : now;
}
