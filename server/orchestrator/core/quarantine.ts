import type { Command } from './commands.ts';
import { emit, newDraft } from './draft.ts';
import { endAdded, failStep, finishStop } from './ending.ts';
import type { RunEvent } from './events.ts';
import { isTerminal, type RunState } from './state.ts';
import { rootOf } from './step-ids.ts';

/** The error code of the step, and so of the run, that fails because several processes died while they loaded the run. */
export const RUN_QUARANTINED = 'run_quarantined';

type Quarantine = Extract<Command, { type: 'quarantine' }>;

/**
 * Ends a run that may not be loaded any more. Needs to know which steps have ended, but none of their values. One step
 * fails, as in every failed run: a started one, or else the next one. A paused run without started steps stays
 * unchanged until it is resumed or stopped.
 */
export function quarantine(state: RunState, { message, leader }: Quarantine, now: number): RunEvent[] {
  if (state.status === null || isTerminal(state.status)) return [];
  const draft = newDraft(state, now);
  if (state.stopRequested !== null) {
    finishStop(draft, state.stopRequested.by);
    return draft.events;
  }
  const error = { code: RUN_QUARANTINED, message };
  const waiting = [...state.waiting, ...state.sleeping, ...state.calling, ...(state.grown?.parents.keys() ?? [])];
  const [begun] = [...state.inFlight, ...state.retrying, ...waiting];
  if (begun !== undefined) {
    const root = rootOf(begun);
    endAdded(draft, root, { cancel: 'run_failed', causedBy: root, skip: 'blocked' });
    failStep(draft, root, error);
    return draft.events;
  }
  const next = nextStep(state);
  if (next === undefined || state.status === 'paused') return [];
  const attempt = (state.steps.get(next)?.attempt ?? 0) + 1;
  emit(draft, { type: 'step_started', step: next, attempt, data: leader === undefined ? {} : { term: leader.term } });
  failStep(draft, next, error, {}, { attempt });
  return draft.events;
}

/** Without the start of the run the ready steps are unknown, so they are found here: those whose dependencies have ended. */
function nextStep(state: RunState): string | undefined {
  return state.graph.order.find(id => {
    const step = state.steps.get(id);
    return step?.open === 0 && (step.status === 'pending' || step.status === 'ready');
  });
}
