import type { Effect, Trial } from '../proposal.ts';

/** Returns the steps that a trial replaced, or executed with a person's consent, with the reasons by step. */
export function effectsOf({ stand_ins: standIns, live }: Trial): Map<string, Effect[]> {
  return Map.groupBy([...standIns, ...(live?.executed ?? [])], ({ step }) => step);
}

/** Returns the hosts to which the chosen steps may send something, sorted. */
export function hostsOf(effects: ReadonlyMap<string, readonly Effect[]>, chosen: ReadonlySet<string>): string[] {
  const chosenEffects = [...effects].flatMap(([step, each]) => (chosen.has(step) ? each : []));
  return [...new Set(chosenEffects.flatMap(({ hosts }) => hosts ?? []))].sort();
}

/**
 * Returns whether the host to which a step sends is only known during the run, so that no person can agree to it in
 * advance.
 */
export const isHostUnknown = (effects: readonly Effect[]): boolean => effects.some(({ hosts }) => hosts === null);
