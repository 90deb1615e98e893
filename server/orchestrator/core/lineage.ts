import type { RunStartedData } from './events.ts';

/**
 * The place of a run among the runs that led to it. `root`: the run at the top, perhaps itself. `depth`: the number of
 * calls that lead to it.
 */
export type Lineage = { root: string; depth: number };

/** The maximum number of calls that lead to a run, including requests to this service. It ends a workflow that calls itself. */
export const MAX_CALL_DEPTH = 8;

/** `started`: the data with which the run was started. */
export function lineageOf(runId: string, started: Pick<RunStartedData, 'parent' | 'beneath'> | null): Lineage {
  const { parent, beneath } = started ?? {};
  if (parent !== undefined) return { root: parent.root ?? parent.run_id, depth: parent.depth };
  if (beneath !== undefined) return { root: beneath.root_run_id, depth: beneath.depth };
  return { root: runId, depth: 0 };
}

/** Returns the root run of a run; null for a run at the top. */
export function rootAbove({ parent, beneath }: Pick<RunStartedData, 'parent' | 'beneath'>): string | null {
  if (parent !== undefined) return parent.root ?? parent.run_id;
  return beneath?.root_run_id ?? null;
}
