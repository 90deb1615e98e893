import type { Effect, Trial } from '../proposal.ts';

/** Returns what a trial has replaced or executed because a person agreed to it, once for each step. */
export function effectsOf({ stand_ins: standIns, live }: Trial): Map<string, Effect[]> {
  return Map.groupBy([...standIns, ...(live?.executed ?? [])], ({ step }) => step);
}
