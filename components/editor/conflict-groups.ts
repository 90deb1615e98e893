import type { Conflict, Side } from '../../server/domains/workflows/edits/index.ts';

type Place = Pick<Conflict, 'step' | 'field'>;
/** The conflicts of one step, or (null) those of the workflow itself and its notes. */
export type ConflictGroup<C extends Place = Conflict> = { step: string | null; conflicts: readonly C[] };

/** Returns the conflicts step by step, in their order. */
export function groupConflicts<C extends Place>(conflicts: readonly C[]): ConflictGroup<C>[] {
  const groups = Map.groupBy(conflicts, ({ step }) => step);
  return [...groups].map(([step, own]) => ({ step, conflicts: own }));
}

/** A text that tells a conflict from the others. */
export const keyOf = ({ step, field }: Place): string => `${step ?? ''}\n${field ?? ''}`;

/** Returns what a side did with the part that is in conflict. */
export function changeOfSide(conflict: Conflict, side: Side): 'added' | 'changed' | 'removed' {
  if (!(side in conflict)) return 'removed';
  return 'base' in conflict ? 'changed' : 'added';
}
