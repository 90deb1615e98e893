import type { RunEvent, SkipReason } from './events.ts';
import { type StepEnd, skippedEnd, verdict } from './skips.ts';
import { effectiveStep, isAdded, isEnded, type RunState, stepState } from './state.ts';

/**
 * The events of a decision in progress, and what they change. The state itself stays unchanged, because writing the
 * decision may fail. The cost depends on the number of changes, not on the size of the run.
 */
export type Draft = {
  readonly state: RunState;
  readonly now: number;
  readonly events: RunEvent[];
  /** The steps that these events end. */
  readonly ended: Map<string, StepEnd>;
  /** The number of these steps that had an attempt in flight, or waited for called runs. */
  endedInFlight: number;
};

export function newDraft(state: RunState, now: number): Draft {
  return { state, now, events: [], ended: new Map(), endedInFlight: 0 };
}

type WithoutTime<E> = E extends RunEvent ? Omit<E, 'at'> : never;

/** Adds an event; its time is the decision's. */
export function emit(draft: Draft, event: WithoutTime<RunEvent>): void {
  draft.events.push({ at: draft.now, ...event });
}

/** Records that a step ends by the event just emitted. */
export function markEnded(draft: Draft, step: string, end: StepEnd): void {
  if (draft.state.inFlight.has(step) || draft.state.calling.has(step)) draft.endedInFlight += 1;
  draft.ended.set(step, end);
}

export function skip(draft: Draft, step: string, reason: SkipReason): void {
  emit(draft, { type: 'step_completed', step, data: { skipped: true, reason } });
  markEnded(draft, step, skippedEnd(draft.state, step, reason));
}

/** Returns the number of authored steps that these events end. */
export function endedAuthored({ state, ended }: Draft): number {
  if (state.grown === null) return ended.size;
  let authored = 0;
  for (const step of ended.keys()) if (!isAdded(state, step)) authored += 1;
  return authored;
}

/** Returns the number of attempts in flight, and of steps that wait for called runs, after these events. */
export function remainingInFlight(draft: Draft): number {
  return draft.state.inFlight.size + draft.state.calling.size - draft.endedInFlight;
}

/** Returns whether a step has ended, according to the log or to these events. */
export function hasEnded(draft: Draft, step: string): boolean {
  return draft.ended.has(step) || isEnded(stepState(draft.state, step));
}

/**
 * Skips, breadth first, every step that has no reason to run after the ends of `from`. Each step is judged once, at the
 * end of its last dependency.
 */
export function cascade(draft: Draft, from: readonly string[]): void {
  const left = new Map<string, number>();
  const ended = [...from];
  // `ended` grows during the loop.
  for (const step of ended) {
    for (const dependent of effectiveStep(draft.state, step).dependents) {
      const open = (left.get(dependent) ?? stepState(draft.state, dependent).open) - 1;
      left.set(dependent, open);
      if (open === 0 && skipIfDue(draft, dependent)) ended.push(dependent);
    }
  }
}

/** Skips the step if its verdict requires that. All its dependencies have ended. */
export function skipIfDue(draft: Draft, step: string): boolean {
  const reason = verdict(draft.state, step, id => draft.ended.get(id) ?? stepState(draft.state, id));
  if (reason === 'ready' || reason === 'held') return false;
  skip(draft, step, reason);
  return true;
}
