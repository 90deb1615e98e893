import type { Phase } from './events.ts';
import { isTerminal, type RunState, retryIsDue, stepState } from './state.ts';

/**
 * Something that is due at `dueAt` (ms since the epoch): `start_attempt` for a retry, `task_timed_out` for a task, `wake`
 * for a wait, `expansion_timed_out`, `call_timed_out`.
 */
export type Timer = { step: string; kind: 'retry' | 'task' | 'wait' | 'expansion' | 'call'; dueAt: number };

/** Returns whether a timer of the run is due at `now`. */
export function isDue(state: RunState, { step, kind, dueAt }: Timer, now: number): boolean {
  return kind === 'retry' ? retryIsDue(stepState(state, step), now) : dueAt <= now;
}

/**
 * The effects of a state. All three are read lazily from the state's indexes: creating them is free, and reading costs only as
 * much as is read. Read them before the next `evolve`.
 */
export type Effects = {
  /** Steps that may begin once they get a slot, the longest ready first. */
  ready: Iterable<string>;
  /** Attempts being executed. After a crash each needs `start_attempt` again, or `abandon_attempt` when stopping. */
  inFlight: Iterable<{ step: string; attempt: number }>;
  timers: Iterable<Timer>;
};

const NOTHING: readonly never[] = [];

/** Returns the effects of the state. A paused or stopping run begins no step and its timers wait; an ended run has no effects. */
export function effects(state: RunState): Effects {
  const advancing = state.status === 'running' && state.stopRequested === null;
  return {
    ready: advancing ? state.ready : NOTHING,
    inFlight: { [Symbol.iterator]: () => inFlight(state) },
    timers: advancing ? { [Symbol.iterator]: () => timers(state) } : NOTHING,
  };
}

function* inFlight(state: RunState): Iterator<{ step: string; attempt: number }> {
  for (const step of state.inFlight) yield { step, attempt: stepState(state, step).attempt };
}

function* timers(state: RunState): Iterator<Timer> {
  for (const step of state.retrying) {
    const { retryAt } = stepState(state, step);
    if (retryAt !== undefined) yield { step, kind: 'retry', dueAt: retryAt };
  }
  for (const step of state.waiting) {
    const dueAt = stepState(state, step).task?.dueAt;
    if (dueAt !== undefined && dueAt !== null) yield { step, kind: 'task', dueAt };
  }
  for (const step of state.sleeping) {
    const { until } = stepState(state, step);
    if (until !== undefined) yield { step, kind: 'wait', dueAt: until };
  }
  for (const step of state.calling) {
    const deadline = stepState(state, step).call?.deadline;
    if (deadline !== undefined && deadline !== null) yield { step, kind: 'call', dueAt: deadline };
  }
  if (state.grown === null) return;
  for (const [step, { deadline }] of state.grown.parents) {
    if (deadline !== null && stepState(state, step).status === 'expanded')
      yield { step, kind: 'expansion', dueAt: deadline };
  }
}

/**
 * Returns the orchestration phase in O(1). A run without its first event is `starting`. `interrupted`: the number of
 * attempts that are in flight according to the log but were interrupted. A paused run does not wait for these, so they
 * do not make it `draining`.
 */
export function phase(state: RunState, interrupted = 0): Phase {
  if (isTerminal(state.status)) return 'complete';
  if (state.stopRequested !== null) return 'draining';
  if (state.status === 'paused') return state.inFlight.size > interrupted ? 'draining' : 'paused';
  if (state.inFlight.size > 0 || state.retrying.size > 0 || state.calling.size > 0) return 'executing';
  // True if no step has begun: none is in flight, retrying, waiting or ended.
  const waits = state.waiting.size > 0 || state.sleeping.size > 0;
  if (state.done === 0 && !waits && state.grown === null) return 'starting';
  return state.ready.size === 0 && waits ? 'blocked' : 'executing';
}
