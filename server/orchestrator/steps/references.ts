import { isObject } from '../../platform/json.ts';
import type { GraphStep, JsonMap } from '../core/index.ts';
import type { NamingField, StepReferences } from '../ports/step-declarations.ts';
import { STEP_FACTS, stepFacts, typesWith } from './step-facts.ts';

/** The kinds of things that steps name by id, possibly in the entries of a list. */
type Named = 'instances' | 'agents' | 'workflows';

/** A field that contains a connection's id or a model, and the type of the steps that have the field. */
export type FieldOfType = { type: string; field: string };

/** Returns the fields in which steps name a connection or a model. */
export function fieldsNaming(kind: 'connection' | 'model'): FieldOfType[] {
  return referencesOfTypes().flatMap(([type, { [kind]: field }]) => (field === undefined ? [] : [{ type, field }]));
}

/** Returns the places in which steps name things of this kind, as rows for SQL. */
export function placesNaming(kind: Named): (NamingField & { type: string })[] {
  return referencesOfTypes().flatMap(([type, { [kind]: fields = [] }]) => fields.map(field => ({ type, ...field })));
}

/** Returns the jsonb that a step contains if it names the thing with this id: one pattern for each place. */
export function patternsNaming(kind: Named, id: string): JsonMap[] {
  return placesNaming(kind).map(({ type, field, list, entryType }) => {
    if (list === undefined) return { type, [field]: id };
    return { type, [list]: [{ ...(entryType !== undefined && { type: entryType }), [field]: id }] };
  });
}

/** Returns the types whose steps may start runs of other workflows. */
export const callingTypes = (): string[] =>
  typesWith(({ references: { agents = [], workflows = [] } }) => agents.length + workflows.length > 0);

/** Returns the things of this kind that a step names. `version`: the version that the step names, if it is a number. */
export function namedBy(step: GraphStep, kind: Named): { id: string; version?: number }[] {
  return (stepFacts(step.type)?.references[kind] ?? []).flatMap(({ field, list, entryType, version }) => {
    const named = list === undefined ? [step] : entriesOf(step[list], entryType);
    const at = version === undefined ? undefined : step[version];
    return named
      .flatMap(each => each[field])
      .flatMap(id => (typeof id === 'string' ? [{ id, ...(typeof at === 'number' && { version: at }) }] : []));
  });
}

function entriesOf(list: unknown, type: string | undefined): Readonly<Record<string, unknown>>[] {
  const entries = Array.isArray(list) ? list.filter(isObject) : [];
  return type === undefined ? entries : entries.filter(entry => entry.type === type);
}

const referencesOfTypes = (): [type: string, StepReferences][] =>
  Object.entries(STEP_FACTS).map(([type, { references }]) => [type, references]);
