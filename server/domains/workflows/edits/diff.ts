import { type Draft, type Fields, graphFields, type Json, type Step, sameJson } from './draft.ts';

/** A changed field. `before` or `after` is absent if that draft lacks the field. */
export type FieldChange = { field: string; before?: Json; after?: Json };
export type StepChange =
  | { change: 'added'; step: string; after: Step }
  | { change: 'removed'; step: string; before: Step }
  | { change: 'changed'; step: string; fields: FieldChange[] };

export type DraftDiff = {
  /** The changed and added steps in the order of `b`, then the removed steps. */
  steps: StepChange[];
  /** Whether the common steps have another order. */
  reordered: boolean;
  /** The notes, by id. */
  notes: FieldChange[];
  /** The fields of the graph other than steps and notes. */
  graph: FieldChange[];
  run_setup: FieldChange[];
  /** `name` and `description`. */
  details: FieldChange[];
};

/** Returns the changes from draft `a` to draft `b`, by step and field. */
export function diff(a: Draft, b: Draft): DraftDiff {
  const [before, after] = [stepsById(a), stepsById(b)];
  const steps: StepChange[] = [];
  for (const step of after.values()) {
    const old = before.get(step.id);
    if (old === undefined) steps.push({ change: 'added', step: step.id, after: step });
    else if (old !== step) {
      const fields = fieldChanges(old, step);
      if (fields.length > 0) steps.push({ change: 'changed', step: step.id, fields });
    }
  }
  for (const step of before.values()) {
    if (!after.has(step.id)) steps.push({ change: 'removed', step: step.id, before: step });
  }
  return {
    steps,
    reordered: isReordered(a, b),
    notes: fieldChanges(notesById(a), notesById(b)),
    graph: fieldChanges(graphFields(a.graph), graphFields(b.graph)),
    run_setup: fieldChanges(a.run_setup, b.run_setup),
    details: fieldChanges({ name: a.name, description: a.description }, { name: b.name, description: b.description }),
  };
}

/** Returns whether the common steps of two drafts have another order. */
export function isReordered(a: Draft, b: Draft): boolean {
  const [before, after] = [stepsById(a), stepsById(b)];
  const kept = [...before.keys()].filter(id => after.has(id));
  const keptAfter = [...after.keys()].filter(id => before.has(id));
  return kept.some((id, at) => id !== keptAfter[at]);
}

export function stepsById({ graph }: Draft): Map<string, Step> {
  return new Map(graph.steps.map(step => [step.id, step]));
}

export function notesById({ graph }: Draft): Fields {
  return Object.fromEntries((graph.notes ?? []).map(note => [note.id, note]));
}

function fieldChanges(before: Fields, after: Fields): FieldChange[] {
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...fields].flatMap(field => {
    const [old, now] = [own(before, field), own(after, field)];
    if (sameJson(old, now)) return [];
    return [{ field, ...(old === undefined ? {} : { before: old }), ...(now === undefined ? {} : { after: now }) }];
  });
}

/** Returns the value of a field; undefined if it is absent. Works for the field `__proto__`. */
export const own = (fields: Fields, field: string): Json | undefined =>
  Object.hasOwn(fields, field) ? fields[field] : undefined;
