import { effects, isDue, type RunState } from '../core/index.ts';

/** The commands for timers that are due. A retry has none: it waits for a slot instead. */
export const WHEN_DUE = {
  task: 'task_timed_out',
  wait: 'wake',
  expansion: 'expansion_timed_out',
  call: 'call_timed_out',
} as const;

/**
 * The time at which a run must be woken, in ms since the epoch. `asOf`: the clock's time at the decision, if that was
 * earlier: the decision is written before its timer is set, and the clock may be set back meanwhile.
 */
export type WakeUp = { readonly dueAt: number; readonly asOf?: number };

/**
 * Returns when the run must be woken next, the earliest of its retries, waits and human-task timeouts; O(of those). A
 * retry that is due by a clock that was set back is due at once.
 */
export function nextTimer(state: RunState, due: ReadonlySet<string> | null, now: number): WakeUp | null {
  const { retrying, waiting, sleeping, calling, grown } = state;
  const isTimeless = retrying.size === 0 && waiting.size === 0 && sleeping.size === 0 && calling.size === 0;
  if (isTimeless && grown === null) return null;
  let next: number | null = null;
  for (const timer of effects(state).timers) {
    if (due?.has(timer.step)) continue;
    const dueAt = isDue(state, timer, now) ? Math.min(timer.dueAt, now) : timer.dueAt;
    if (next === null || dueAt < next) next = dueAt;
  }
  return next === null ? null : { dueAt: next, asOf: now };
}
