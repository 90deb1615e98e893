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

/** Returns the ids with `id` replaced by others, each once. */
export const replaceId = (ids: readonly string[], id: string, by: readonly string[]): string[] => [
  ...new Set(ids.flatMap(each => (each === id ? by : [each]))),
];

/**
 * Gives a step another id, wherever the draft refers to it. `unrewritten`: the places in Lua that may still read it by the old one. The new
 * id must be free.
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

/** Pinned results are keyed by step. What they hold is data. */
function renamePin(setup: Fields, { from, to }: Rename): Fields {
  const pins = pinsIn(setup);
  if (!(Object.hasOwn(pins, from) || Object.hasOwn(pins, to))) return setup;
  // There was no step `to`: a result for it is left over from another one.
  const entries = Object.entries(pins).filter(([id]) => id !== to);
  const renamed = entries.map(([id, result]): [string, Json] => [id === from ? to : id, result]);
  return withFields(setup, { pinned_results: Object.fromEntries(renamed) });
}

/** Overrides in the run setup are keyed by step, and hold fields of that step with templates and expressions of their own. */
function renameInOverrides(draft: Draft, { from, to }: Rename): Fields {
  const overrides: Json | undefined = draft.run_setup.trigger_steps;
  if (!isFields(overrides)) return draft.run_setup;
  const types = new Map(draft.graph.steps.map(step => [step.id, step.type]));
  // There was no step `to`: an override for it is left over from another one.
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
