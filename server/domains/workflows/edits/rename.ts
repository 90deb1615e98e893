import {
  type Draft,
  type Fields,
  graphFields,
  idsIn,
  type Json,
  type Unrewritten,
  withFields,
  withStepFields,
} from './draft.ts';
import { pinsIn } from './pins.ts';
import { luaReferences, renameInFields, renameInTexts, renameInValue } from './references.ts';

export type Rename = { from: string; to: string };

/** The fields of a graph that hold templates. */
const TEMPLATE_FIELDS = ['output', 'searchable'] as const;

/** Replaces an id by other ids, without duplicates. */
export const replaceId = (ids: readonly string[], id: string, by: readonly string[]): string[] => [
  ...new Set(ids.flatMap(each => (each === id ? by : [each]))),
];

/**
 * Renames a step and all references to it in the draft. `unrewritten`: the lines of Lua that may still use the old id. The new id must be
 * free.
 */
export function renameWhole(draft: Draft, { from, to }: Rename): { draft: Draft; unrewritten: readonly Unrewritten[] } {
  const steps = draft.graph.steps.map(each => {
    let next = each.id === from ? withStepFields(each, { id: to }) : each;
    for (const field of ['depends_on', 'then', 'else']) {
      if (idsIn(next[field]).includes(from))
        next = withStepFields(next, { [field]: replaceId(idsIn(next[field]), from, [to]) });
    }
    return renameInTexts(next, { from, to });
  });
  const isSame = steps.every((step, at) => step === draft.graph.steps[at]);
  const renamed = isSame ? draft : { ...draft, graph: { ...draft.graph, steps } };
  // A step cannot read its own result.
  const unrewritten = steps.flatMap(each => (each.id === to ? [] : luaReferences(each, from)));
  const run_setup = renameInSetup(draft, { from, to });
  return { draft: { ...withGraphFieldsRenamed(renamed, { from, to }), run_setup }, unrewritten };
}

function renameInSetup(draft: Draft, rename: Rename): Fields {
  return renamePin(renameInOverrides(draft, rename), rename);
}

/** Renames the key of a pinned result. The result itself is data and does not change. */
function renamePin(setup: Fields, { from, to }: Rename): Fields {
  const pins = pinsIn(setup);
  if (!(Object.hasOwn(pins, from) || Object.hasOwn(pins, to))) return setup;
  // No step had the id `to`, so a result with this key is stale.
  const entries = Object.entries(pins).filter(([id]) => id !== to);
  const renamed = entries.map(([id, result]): [string, Json] => [id === from ? to : id, result]);
  return withFields(setup, { pinned_results: Object.fromEntries(renamed) });
}

/** Renames keys of overrides in the run setup, and references in their templates and expressions. */
function renameInOverrides(draft: Draft, { from, to }: Rename): Fields {
  const overrides: Json | undefined = draft.run_setup.trigger_steps;
  if (!isFields(overrides)) return draft.run_setup;
  const types = new Map(draft.graph.steps.map(step => [step.id, step.type]));
  // No step had the id `to`, so an override with this key is stale.
  const used = Object.entries(overrides).filter(([id]) => id !== to);
  const entries = used.map(([id, value]): [string, Json] => {
    const renamed = isFields(value) ? renameInFields(value, types.get(id) ?? '', { from, to }) : value;
    return [id === from ? to : id, renamed];
  });
  const isSame =
    used.length === Object.keys(overrides).length &&
    entries.every(([id, value]) => Object.hasOwn(overrides, id) && overrides[id] === value);
  return isSame ? draft.run_setup : withFields(draft.run_setup, { trigger_steps: Object.fromEntries(entries) });
}

const isFields = (value: Json | undefined): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function withGraphFieldsRenamed(draft: Draft, rename: Rename): Draft {
  const fields = graphFields(draft.graph);
  const renamed = Object.fromEntries(
    TEMPLATE_FIELDS.flatMap((field): [string, Json][] => {
      const value = fields[field];
      const changed = value === undefined ? undefined : renameInValue(value, rename);
      return changed === undefined || changed === value ? [] : [[field, changed]];
    }),
  );
  return Object.keys(renamed).length === 0 ? draft : { ...draft, graph: { ...draft.graph, ...renamed } };
}
