import type { RunState } from '@/server/domains/runs/reading/run-state.ts';

/** Returns the status of each started step of a run by step id, for the canvas of the draft. */
export function marksOf({ steps }: Pick<RunState, 'steps'>): ReadonlyMap<string, string> {
  return new Map(
    [...steps.values()].filter(({ status }) => status !== 'pending').map(({ id, status }) => [id, status]),
  );
}

/** Returns whether a run took the connection between two steps: the first step succeeded, and the second step started. */
export function isTaken(marks: ReadonlyMap<string, string>, from: string, to: string): boolean {
  const target = marks.get(to);
  return marks.get(from) === 'completed' && target !== undefined && target !== 'skipped';
}
