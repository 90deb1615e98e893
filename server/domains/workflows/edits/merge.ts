import { isReordered, notesById, own, stepsById } from './diff.ts';
import {
  type Draft,
  type Fields,
  type Graph,
  graphFields,
  idsIn,
  type Json,
  type Note,
  type Step,
  sameJson,
} from './draft.ts';
import { inKeyOrder, inOrder, sameDraft } from './restore.ts';
import { makeSound } from './sound.ts';

/** A step or field that both sides changed differently. A side is absent where it removed the step or the field. */
export type Conflict = {
  /** null: a field of the draft itself (`name`, `description`), of `run_setup`, of the graph itself, or a note. */
  step: string | null;
  /** null: the whole step, which one side removed. `run_setup.<field>` for the run setup, `graph.<field>` for the graph, `notes.<id>` for a note. */
  field: string | null;
  base?: Json;
  ours?: Json;
  theirs?: Json;
};
export type Side = 'ours' | 'theirs';
/** Returns the side that a person chose for a conflict; undefined if it is not decided. */
export type Choose = (conflict: Conflict) => Side | undefined;
export type MergeResult = { ok: true; draft: Draft } | { ok: false; conflicts: readonly Conflict[] };

/** Fields with lists of ids without a meaningful order. The additions and removals of both sides are merged. */
const ID_SETS: ReadonlySet<string> = new Set(['depends_on', 'then', 'else', 'overridable', 'assignees']);

/** Fields with maps whose entries are merged separately, because people may pin the results of different steps. */
const MAPS: ReadonlySet<string> = new Set(['pinned_results']);

/**
 * Merges two drafts that were made from `base`. If one side has no changes, the result is exactly the other side. A field that only one side
 * changed has the value of that side. Lists of ids are merged as sets. A field that both sides changed differently is a conflict unless
 * `choose` decides it. Changes that contradict each other are conflicts, too (`makeSound`).
 */
export function merge(base: Draft, ours: Draft, theirs: Draft, choose: Choose = () => undefined): MergeResult {
  // Exact equality comes first: a draft equals one with an empty list of notes, but the form of the changed side counts.
  for (const same of [sameText, sameDraft]) {
    if (same(base, theirs)) return { ok: true, draft: ours };
    if (same(base, ours)) return { ok: true, draft: theirs };
  }
  const conflicts: Conflict[] = [];
  const decide = (conflict: Conflict): Side | undefined => {
    const side = choose(conflict);
    if (side === undefined) conflicts.push(conflict);
    return side;
  };
  const merged = mergeSteps(base, ours, theirs, decide);
  const setup = mergeFields(base.run_setup, ours.run_setup, theirs.run_setup, (field, values) =>
    decide({ step: null, field: `run_setup.${field}`, ...values }),
  );
  const noteFields = mergeFields(notesById(base), notesById(ours), notesById(theirs), (id, values) =>
    decide({ step: null, field: `notes.${id}`, ...values }),
  );
  const notes = Object.values(noteFields) as readonly Json[] as readonly Note[];
  const graphOwn = mergeFields(
    graphFields(base.graph),
    graphFields(ours.graph),
    graphFields(theirs.graph),
    (field, values) => decide({ step: null, field: `graph.${field}`, ...values }),
  );
  const details = mergeFields(detailsOf(base), detailsOf(ours), detailsOf(theirs), (field, values) =>
    decide({ step: null, field, ...values }),
  );
  makeSound({ steps: merged, graph: graphOwn, run_setup: setup }, { base, ours, theirs }, decide);
  if (conflicts.length > 0) return { ok: false, conflicts };
  const steps = placed([...merged.values()], base, ours, theirs);
  const { name = theirs.name, description = theirs.description } = details as Partial<typeof theirs>;
  const graph = { steps, ...(notes.length > 0 || theirs.graph.notes ? { notes } : {}), ...graphOwn };
  const ordered = inKeyOrder(graph, Object.keys(theirs.graph)) as Graph;
  return { ok: true, draft: { ...theirs, name, description, graph: ordered, run_setup: setup } };
}

const sameText = (a: Draft, b: Draft): boolean => JSON.stringify(a) === JSON.stringify(b);
const detailsOf = ({ name, description }: Draft): Fields => ({ name, description });
type Decide = (conflict: Conflict) => Side | undefined;
type Values = Pick<Conflict, 'base' | 'ours' | 'theirs'>;

function mergeSteps(base: Draft, ours: Draft, theirs: Draft, decide: Decide): Map<string, Step> {
  const [old, left, right] = [stepsById(base), stepsById(ours), stepsById(theirs)];
  const merged = new Map<string, Step>();
  // The steps have the order of `theirs`, the draft of the server. Steps only in `ours` come last.
  for (const id of new Set([...right.keys(), ...left.keys()])) {
    const step = mergeStep(id, { base: old.get(id), ours: left.get(id), theirs: right.get(id) }, decide);
    if (step !== undefined) merged.set(id, step);
  }
  return merged;
}

type Versions = { base: Step | undefined; ours: Step | undefined; theirs: Step | undefined };

function mergeStep(id: string, { base, ours, theirs }: Versions, decide: Decide): Step | undefined {
  if (sameJson(ours, theirs) || sameJson(base, theirs)) return ours;
  if (sameJson(base, ours)) return theirs;
  if (ours !== undefined && theirs !== undefined) {
    const fields = mergeFields(base ?? {}, ours, theirs, (field, values) => decide({ step: id, field, ...values }));
    return fields as Step;
  }
  const side = decide({ step: id, field: null, ...present({ base, ours, theirs }) });
  return side === 'ours' ? ours : theirs;
}

const present = (values: { [K in keyof Values]: Values[K] | undefined }): Values =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

function mergeFields(
  base: Fields,
  ours: Fields,
  theirs: Fields,
  decide: (field: string, values: Values) => Side | undefined,
): Fields {
  const fields = new Set([...Object.keys(theirs), ...Object.keys(ours)]);
  const entries = [...fields].flatMap((field): [string, Json][] => {
    const values = { base: own(base, field), ours: own(ours, field), theirs: own(theirs, field) };
    const value = mergeField(field, values, () => decide(field, present(values)));
    return value === undefined ? [] : [[field, value]];
  });
  return Object.fromEntries(entries);
}

function mergeField(
  field: string,
  { base, ours, theirs }: { [K in keyof Values]: Values[K] | undefined },
  decide: () => Side | undefined,
): Json | undefined {
  if (sameJson(ours, theirs) || sameJson(base, theirs)) return ours;
  if (sameJson(base, ours)) return theirs;
  if (ID_SETS.has(field) && [base, ours, theirs].every(isIdSet)) {
    const ids = mergeIds(idsIn(base), idsIn(ours), idsIn(theirs));
    return ids.length === 0 && (ours === undefined || theirs === undefined) ? undefined : ids;
  }
  if (MAPS.has(field) && [base, ours, theirs].every(isMap)) {
    const [before, left, right] = [base, ours, theirs].map(value => (value ?? {}) as Fields);
    return mergeFields(before ?? {}, left ?? {}, right ?? {}, decide);
  }
  return decide() === 'ours' ? ours : theirs;
}

const isMap = (value: Json | undefined): boolean =>
  value === undefined || (typeof value === 'object' && value !== null && !Array.isArray(value));

const isIdSet = (value: Json | undefined): boolean =>
  value === undefined || (Array.isArray(value) && idsIn(value).length === value.length);

function mergeIds(base: readonly string[], ours: readonly string[], theirs: readonly string[]): string[] {
  const removed = new Set(base.filter(id => !ours.includes(id) || !theirs.includes(id)));
  return [...new Set([...theirs, ...ours])].filter(id => !removed.has(id));
}

/** Orders steps like the side that changed the order; `theirs` wins. A step only in the other side follows its predecessor there. */
function placed(steps: readonly Step[], base: Draft, ours: Draft, theirs: Draft): readonly Step[] {
  const [leading, other] = isReordered(base, theirs) || !isReordered(base, ours) ? [theirs, ours] : [ours, theirs];
  const order = leading.graph.steps.map(({ id }) => id);
  const known = new Set(order);
  let after: string | undefined;
  for (const { id } of other.graph.steps) {
    if (!known.has(id)) order.splice(after === undefined ? 0 : order.indexOf(after) + 1, 0, id);
    after = id;
  }
  return inOrder(steps, order);
}
