import { effects, type RunState } from '../core/index.ts';

/** The commands for timers that are due. A retry has none: it waits for a slot instead. */
export const WHEN_DUE = {
  task: 'task_timed_out',
  wait: 'wake',
  expansion: 'expansion_timed_out',
  call: 'call_timed_out',
} as const;

/** Returns when the run must be woken next, the earliest of its retries, waits and human-task timeouts; O(of those). */
export function nextTimer(state: RunState, due: ReadonlySet<string> | null): number | null {
  const { retrying, waiting, sleeping, calling, grown } = state;
  const isTimeless = retrying.size === 0 && waiting.size === 0 && sleeping.size === 0 && calling.size === 0;
  if (isTimeless && grown === null) return null;
  let next: number | null = null;
  for (const { step, dueAt } of effects(state).timers)
    if ((next === null || dueAt < next) && !due?.has(step)) next = dueAt;
  return next;
}
