import type { RunState } from '@/server/domains/runs/run-state.ts';

/** Returns the status of each step of a run that is more than pending, by the id of the step: what the canvas of the draft shows of it. */
export function marksOf({ steps }: Pick<RunState, 'steps'>): ReadonlyMap<string, string> {
  return new Map(
    [...steps.values()].filter(({ status }) => status !== 'pending').map(({ id, status }) => [id, status]),
  );
}

/** Whether a run took the connection between two steps: one ended well, and the other was begun. */
export function isTaken(marks: ReadonlyMap<string, string>, from: string, to: string): boolean {
  const target = marks.get(to);
  return marks.get(from) === 'completed' && target !== undefined && target !== 'skipped';
}
