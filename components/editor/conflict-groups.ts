import type { Conflict, Side } from '../../server/domains/workflows/edits/index.ts';

type Place = Pick<Conflict, 'step' | 'field'>;
/** The conflicts of one step. `step` is null for the conflicts of the workflow itself and its notes. */
export type ConflictGroup<C extends Place = Conflict> = { step: string | null; conflicts: readonly C[] };

/** Groups the conflicts by step, in their order. */
export function groupConflicts<C extends Place>(conflicts: readonly C[]): ConflictGroup<C>[] {
  const groups = Map.groupBy(conflicts, ({ step }) => step);
  return [...groups].map(([step, stepConflicts]) => ({ step, conflicts: stepConflicts }));
}

/** Returns a key that is unique among the conflicts. */
export const keyOf = ({ step, field }: Place): string => `${step ?? ''}\n${field ?? ''}`;

/** Returns the kind of change that a side made to the conflicting part. */
export function changeOfSide(conflict: Conflict, side: Side): 'added' | 'changed' | 'removed' {
  if (!(side in conflict)) return 'removed';
  return 'base' in conflict ? 'changed' : 'added';
}
