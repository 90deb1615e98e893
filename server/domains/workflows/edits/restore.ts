import {
  type Draft,
  type Fields,
  type Graph,
  graphFields,
  type Json,
  type Note,
  type NoteRestore,
  type Restore,
  type Step,
  type StepRestore,
  sameJson,
  type Unrewritten,
  withFields,
  withStepFields,
} from './draft.ts';
import { type Rename, renameWhole } from './rename.ts';

/**
 * Returns the inverse of the change from `before` to `after`. `renamed`: a step that the change renamed. The inverse renames this step and all
 * references at that time, including those of later edits.
 */
export function restoreOf(before: Draft, after: Draft, renamed?: Rename): Restore {
  const was = renamed && before.graph.steps.find(({ id }) => id === renamed.from);
  if (renamed === undefined || was === undefined) return differences(before, after);
  const back = renameWhole(after, { from: renamed.to, to: renamed.from }).draft;
  const rest = differences(before, shared(before, back));
  const keys = Object.keys(was);
  return {
    ...rest,
    steps: [{ change: 'update', step: renamed.to, set: { id: was.id }, unset: [], keys }, ...rest.steps],
  };
}

/** Returns `draft` with the objects of `before` in the place of exactly equal ones. */
function shared(before: Draft, draft: Draft): Draft {
  const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
  const old = new Map(before.graph.steps.map(step => [step.id, step]));
  const steps = draft.graph.steps.map(step => {
    const was = old.get(step.id);
    return was !== undefined && isSame(was, step) ? was : step;
  });
  const known = graphFields(before.graph);
  const fields = Object.entries(graphFields(draft.graph)).flatMap(([field, value]): [string, Json][] => {
    const was = Object.hasOwn(known, field) ? known[field] : undefined;
    return was !== undefined && isSame(was, value) ? [[field, was]] : [];
  });
  const graph = { ...draft.graph, ...Object.fromEntries(fields), steps };
  const run_setup = isSame(before.run_setup, draft.run_setup) ? before.run_setup : draft.run_setup;
  return { ...draft, graph, run_setup };
}

function differences(before: Draft, after: Draft): Restore {
  const old = new Map(before.graph.steps.map(step => [step.id, step]));
  const steps: StepRestore[] = [];
  const kept = new Set<string>();
  for (const step of after.graph.steps) {
    const was = old.get(step.id);
    if (was === undefined) steps.push({ change: 'remove', step: step.id });
    else {
      kept.add(was.id);
      if (was !== step) steps.push(updateOf(step, was));
    }
  }
  for (const step of before.graph.steps) if (!kept.has(step.id)) steps.push({ change: 'add', step });
  const order = before.graph.steps.map(({ id }) => id);
  const isInOrder =
    order.length === after.graph.steps.length && after.graph.steps.every(({ id }, at) => id === order[at]);
  return {
    type: 'restore',
    steps,
    ...(isInOrder ? {} : { order }),
    ...restoreNotes(before.graph.notes, after.graph.notes),
    ...restoreGraph(before.graph, after.graph),
    ...(before.run_setup === after.run_setup ? {} : { run_setup: before.run_setup }),
    ...(before.name === after.name ? {} : { name: before.name }),
    ...(before.description === after.description ? {} : { description: before.description }),
  };
}

function restoreNotes(
  before: readonly Note[] | undefined,
  after: readonly Note[] | undefined,
): Pick<Restore, 'notes' | 'without_notes'> {
  if (before === after) return {};
  const [old, now] = [before ?? [], after ?? []];
  const removed = now.filter(({ id }) => !old.some(note => note.id === id));
  const notes: NoteRestore[] = [
    ...removed.map(({ id }): NoteRestore => ({ change: 'remove', note: id })),
    ...old.flatMap((note, at): NoteRestore[] => (now.includes(note) ? [] : [{ change: 'put', note, at }])),
  ];
  return { notes, ...(before === undefined ? { without_notes: true } : {}) };
}

function restoreGraph(before: Graph, after: Graph): Pick<Restore, 'graph'> {
  const [old, now] = [graphFields(before), graphFields(after)];
  const set = Object.entries(old).filter(([field, value]) => !Object.hasOwn(now, field) || now[field] !== value);
  const unset = Object.keys(now).filter(field => !Object.hasOwn(old, field));
  if (set.length === 0 && unset.length === 0) return {};
  return { graph: { set: Object.fromEntries(set), unset, keys: Object.keys(before) } };
}

function updateOf(step: Step, was: Step): StepRestore {
  const set = Object.entries(was).filter(([field, value]) => !Object.hasOwn(step, field) || step[field] !== value);
  const unset = Object.keys(step).filter(field => !Object.hasOwn(was, field));
  return { change: 'update', step: step.id, set: Object.fromEntries(set), unset, keys: Object.keys(was) };
}

/** Returns the id to which an inverse renames a step; null for other changes. */
export function renamedTo(item: Extract<StepRestore, { change: 'update' }>): string | null {
  const { id } = item.set;
  return typeof id === 'string' && id !== item.step ? id : null;
}

export type Restored = { draft: Draft; renamed?: Rename; unrewritten?: readonly Unrewritten[] };

/** Applies an inverse. Ignores steps and notes that no longer exist. A renamed step is renamed back with all current references. */
export function applyRestore(given: Draft, restore: Restore): Restored {
  const { draft, ...renamed } = renamedBack(given, restore);
  let steps: readonly Step[] = draft.graph.steps;
  for (const item of restore.steps) {
    if (item.change === 'remove') steps = steps.filter(({ id }) => id !== item.step);
    else if (item.change === 'add') {
      if (!steps.some(({ id }) => id === item.step.id)) steps = [...steps, item.step];
    } else {
      const to = renamedTo(item);
      if (to !== null && renamed.renamed?.from !== item.step) continue;
      const named = to ?? item.step;
      steps = steps.map(step => (step.id === named ? updated(step, item.set, item.unset, item.keys) : step));
    }
  }
  const { order, run_setup = draft.run_setup, name = draft.name, description = draft.description } = restore;
  if (order !== undefined) steps = inOrder(steps, order);
  const stepsRestored = steps === draft.graph.steps ? draft.graph : { ...draft.graph, steps };
  const withNotes =
    restore.notes === undefined ? stepsRestored : withNotesRestored(stepsRestored, restore.notes, restore);
  const graph = restore.graph === undefined ? withNotes : withGraphRestored(withNotes, restore.graph);
  return { draft: { ...draft, name, description, graph, run_setup }, ...renamed };
}

/** Renames the step of an inverse back, if the step still exists. */
function renamedBack(draft: Draft, { steps }: Restore): Restored {
  for (const item of steps) {
    const to = item.change === 'update' ? renamedTo(item) : null;
    if (item.change !== 'update' || to === null || !draft.graph.steps.some(({ id }) => id === item.step)) continue;
    const renamed = { from: item.step, to };
    return { ...renameWhole(draft, renamed), renamed };
  }
  return { draft };
}

function withNotesRestored(graph: Graph, changes: readonly NoteRestore[], { without_notes }: Restore): Graph {
  let notes: readonly Note[] = graph.notes ?? [];
  for (const item of changes) {
    if (item.change === 'remove') notes = notes.filter(({ id }) => id !== item.note);
    else {
      const at = notes.findIndex(({ id }) => id === item.note.id);
      notes = at === -1 ? notes.toSpliced(item.at, 0, item.note) : notes.with(at, item.note);
    }
  }
  if (without_notes !== true || notes.length > 0) return { ...graph, notes };
  const { notes: _, ...rest } = graph;
  return rest;
}

function withGraphRestored(graph: Graph, { set, unset, keys }: NonNullable<Restore['graph']>): Graph {
  return inKeyOrder(withFields(graph as Fields, set, unset), keys) as Graph;
}

function updated(step: Step, set: Fields, unset: readonly string[], keys: readonly string[]): Step {
  return inKeyOrder(withStepFields(step, set, unset), keys) as Step;
}

/** Orders fields like `keys`. Other fields come last. */
export function inKeyOrder(fields: Fields, keys: readonly string[]): Fields {
  const places = new Map(keys.map((key, at) => [key, at]));
  const place = (key: string) => places.get(key) ?? keys.length;
  return Object.fromEntries(Object.entries(fields).sort(([a], [b]) => place(a) - place(b)));
}

/** Orders steps like `ids`. Other steps keep following their predecessor. */
export function inOrder(steps: readonly Step[], ids: readonly string[]): readonly Step[] {
  const places = new Map(ids.map((id, at) => [id, at]));
  let place = -1;
  const keyed = steps.map((step, at) => {
    place = places.get(step.id) ?? place;
    return { step, place, known: places.has(step.id) ? 0 : 1, at };
  });
  keyed.sort((a, b) => a.place - b.place || a.known - b.known || a.at - b.at);
  return keyed.every(({ at }, n) => at === n) ? steps : keyed.map(({ step }) => step);
}

/** Returns whether two drafts are equal, ignoring the order of keys. */
export function sameDraft(a: Draft, b: Draft): boolean {
  return (
    a.name === b.name &&
    a.description === b.description &&
    sameJson(a.run_setup, b.run_setup) &&
    sameJson(a.graph.steps, b.graph.steps) &&
    sameJson(a.graph.notes ?? [], b.graph.notes ?? []) &&
    sameJson(graphFields(a.graph), graphFields(b.graph))
  );
}
