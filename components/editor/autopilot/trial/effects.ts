import type { Effect, Trial } from '../proposal.ts';

/** Returns the steps that a trial has replaced, or executed because a person agreed, with the reasons by step. */
export function effectsOf({ stand_ins: standIns, live }: Trial): Map<string, Effect[]> {
  return Map.groupBy([...standIns, ...(live?.executed ?? [])], ({ step }) => step);
}

/** Returns the hosts to which the chosen steps may send something, in their order. */
export function hostsOf(effects: ReadonlyMap<string, readonly Effect[]>, chosen: ReadonlySet<string>): string[] {
  const chosenEffects = [...effects].flatMap(([step, each]) => (chosen.has(step) ? each : []));
  return [...new Set(chosenEffects.flatMap(({ hosts }) => hosts ?? []))].sort();
}

/** Returns whether only the run decides to which host a step sends, so that no person can agree to the host before. */
export const isHostUnknown = (effects: readonly Effect[]): boolean => effects.some(({ hosts }) => hosts === null);
