import type { Effect, Trial } from '../proposal.ts';

/** Returns what a trial has replaced or executed because a person agreed to it, once for each step. */
export function effectsOf({ stand_ins: standIns, live }: Trial): Map<string, Effect[]> {
  return Map.groupBy([...standIns, ...(live?.executed ?? [])], ({ step }) => step);
}

/** Returns the hosts to which the chosen steps may send something, in their order. */
export function hostsOf(effects: ReadonlyMap<string, readonly Effect[]>, chosen: ReadonlySet<string>): string[] {
  const of = [...effects].flatMap(([step, each]) => (chosen.has(step) ? each : []));
  return [...new Set(of.flatMap(({ hosts }) => hosts ?? []))].sort();
}

/** Whether only the run decides to which host a step sends, so that nobody can agree to it before. */
export const isHostUnknown = (effects: readonly Effect[]): boolean => effects.some(({ hosts }) => hosts === null);
