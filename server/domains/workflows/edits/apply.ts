import {
  type ApplyResult,
  type Branch,
  type Draft,
  type Edit,
  type EditProblem,
  type Fields,
  type Graph,
  graphFields,
  identicalJson,
  idsIn,
  type Json,
  type Note,
  type Restore,
  STEP_ID,
  type Step,
  sameJson,
  type Unrewritten,
  withFields,
  withStepFields,
} from './draft.ts';
import { withoutPin } from './pins.ts';
import { idsInLoop } from './references.ts';
import { renameWhole, replaceId } from './rename.ts';
import { applyRestore, renamedTo, restoreOf } from './restore.ts';

/** Thrown by the functions below for an edit that cannot be applied. `apply` catches it and returns the problem. */
class CannotApply extends Error {
  readonly problem: EditProblem;
  constructor(code: EditProblem['code'], message: string) {
    super(message);
    this.problem = { code, message };
  }
}

type Changed = { draft: Draft; renamed?: { from: string; to: string }; unrewritten?: readonly Unrewritten[] };

/**
 * Applies an edit. Returns the changed draft, the inverse edit, and for a renamed step the places in Lua that still name it. Returns the
 * problem if the edit cannot be applied.
 */
export function apply(draft: Draft, edit: Edit): ApplyResult {
  try {
    const { draft: after, renamed, unrewritten = [] } = change(draft, edit);
    return { ok: true, draft: after, inverse: restoreOf(draft, after, renamed), unrewritten };
  } catch (error) {
    if (error instanceof CannotApply) return { ok: false, problem: error.problem };
    throw error;
  }
}

function change(draft: Draft, edit: Edit): Changed {
  switch (edit.type) {
    case 'add_step':
      return { draft: addStep(draft, edit.step, edit.at ?? draft.graph.steps.length) };
    case 'update_step':
      return { draft: updateStep(draft, edit.step, edit.set ?? {}, edit.unset ?? []) };
    case 'rename_step':
      return renameStep(draft, edit.step, edit.to);
    case 'remove_step':
      return { draft: removeStep(draft, edit.step, edit.heal ?? false) };
    case 'connect':
      return { draft: connect(draft, edit.from, edit.to, edit.branch) };
    case 'disconnect':
      return { draft: disconnect(draft, edit.from, edit.to) };
    case 'insert_between':
      return { draft: insertBetween(draft, edit.from, edit.to, edit.step) };
    case 'move':
      return { draft: move(draft, edit.step, edit.position) };
    case 'set_note':
      return { draft: setNote(draft, edit.note) };
    case 'remove_note':
      return { draft: removeNote(draft, edit.note) };
    case 'update_graph':
      return { draft: updateGraph(draft, edit.set ?? {}, edit.unset ?? []) };
    case 'set_run_setup':
      return { draft: { ...draft, run_setup: edit.run_setup } };
    case 'set_details':
      return {
        draft: { ...draft, name: edit.name ?? draft.name, description: edit.description ?? draft.description },
      };
    case 'restore':
      return restore(draft, edit);
  }
}

function restore(draft: Draft, edit: Restore): Changed {
  for (const item of edit.steps) {
    if (item.change !== 'update') continue;
    requireType(item.step, item.unset);
    const to = renamedTo(item);
    // If the old id is used by now, undoing the rename would leave two steps with one id.
    if (to !== null && draft.graph.steps.some(step => step.id === item.step)) requireFree(draft, to);
  }
  return applyRestore(draft, edit);
}

const withSteps = (draft: Draft, steps: readonly Step[]): Draft => ({ ...draft, graph: { ...draft.graph, steps } });

function stepOf(draft: Draft, id: string): Step {
  const step = draft.graph.steps.find(each => each.id === id);
  if (step === undefined) throw new CannotApply('step_not_found', `There is no step "${id}".`);
  return step;
}

function requireFree(draft: Draft, id: string): void {
  if (!STEP_ID.test(id)) {
    const rule = 'must start with a letter or _ and have at most 64 letters, digits, _ and -';
    throw new CannotApply('invalid_step_id', `The id "${id.slice(0, 80)}" ${rule}.`);
  }
  if (draft.graph.steps.some(step => step.id === id)) {
    throw new CannotApply('step_exists', `There is a step "${id}" already.`);
  }
  // Steps of a loop refer to steps outside by id, so a reference to an id that both use would be ambiguous.
  const loop = draft.graph.steps.find(step => idsInLoop(step).has(id));
  if (loop !== undefined) throw new CannotApply('step_exists', `The loop "${loop.id}" has a step "${id}" already.`);
}

/** Replaces each step by the result of `changeStep`. */
function mapSteps(draft: Draft, changeStep: (step: Step) => Step): Draft {
  const steps = draft.graph.steps.map(changeStep);
  return steps.every((step, at) => step === draft.graph.steps[at]) ? draft : withSteps(draft, steps);
}

/** Sets a list of ids. Removes the field if the list becomes empty. */
function withIds(step: Step, field: string, ids: readonly string[]): Step {
  const before = idsIn(step[field]);
  if (before.length === ids.length && before.every((id, at) => id === ids[at])) return step;
  return ids.length === 0 ? withStepFields(step, {}, [field]) : withStepFields(step, { [field]: ids });
}

function addStep(draft: Draft, step: Step, at: number): Draft {
  requireFree(draft, step.id);
  const { steps } = draft.graph;
  if (!Number.isInteger(at) || at < 0 || at > steps.length) {
    throw new CannotApply('invalid_index', `A step can be added at 0 to ${steps.length}.`);
  }
  return withSteps(draft, steps.toSpliced(at, 0, step));
}

function updateStep(draft: Draft, id: string, set: Fields, unset: readonly string[]): Draft {
  const step = stepOf(draft, id);
  if ('id' in set || unset.includes('id')) {
    throw new CannotApply('id_not_editable', 'Use rename_step to change the id of a step: it renames all references.');
  }
  requireType(id, unset);
  const changed = withStepFields(step, set, unset);
  return mapSteps(draft, each => (each === step ? changed : each));
}

function requireType(id: string, unset: readonly string[]): void {
  if (unset.includes('type')) throw new CannotApply('type_not_removable', `"${id}" needs a type: set another one.`);
}

function renameStep(draft: Draft, from: string, to: string): Changed {
  stepOf(draft, from);
  if (from === to) return { draft };
  requireFree(draft, to);
  return { ...renameWhole(draft, { from, to }), renamed: { from, to } };
}

function removeStep(draft: Draft, id: string, heal: boolean): Draft {
  const removed = stepOf(draft, id);
  const before = heal ? idsIn(removed.depends_on) : [];
  const dependents = draft.graph.steps.filter(step => idsIn(step.depends_on).includes(id)).map(step => step.id);
  const rest = withSteps(
    { ...draft, run_setup: withoutPin(draft.run_setup, id) },
    draft.graph.steps.filter(step => step !== removed),
  );
  return mapSteps(rest, step => {
    let next = step;
    if (idsIn(step.depends_on).includes(id))
      next = withIds(next, 'depends_on', replaceId(idsIn(step.depends_on), id, before));
    for (const branch of ['then', 'else']) {
      if (idsIn(step[branch]).includes(id))
        next = withIds(next, branch, replaceId(idsIn(step[branch]), id, heal ? dependents : []));
    }
    return next;
  });
}

/** Returns whether `from` depends on `to`, directly or through other steps. */
function comesBefore(draft: Draft, to: string, from: string): boolean {
  const steps = new Map(draft.graph.steps.map(step => [step.id, step]));
  const open = [from];
  const seen = new Set<string>();
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === to) return true;
    if (seen.has(id)) continue;
    seen.add(id);
    open.push(...idsIn(steps.get(id)?.depends_on));
  }
  return false;
}

function connect(draft: Draft, from: string, to: string, branch: Branch | undefined): Draft {
  const source = stepOf(draft, from);
  stepOf(draft, to);
  if (from === to) throw new CannotApply('connects_itself', 'A step cannot depend on itself.');
  if (comesBefore(draft, to, from)) {
    throw new CannotApply('would_be_cycle', `"${to}" comes before "${from}" already: the graph would have a cycle.`);
  }
  if (branch !== undefined && source.type !== 'condition') {
    throw new CannotApply('not_a_condition', `"${from}" has no branches: it is no condition.`);
  }
  return mapSteps(draft, step => {
    if (step.id === to) {
      const ids = idsIn(step.depends_on);
      return ids.includes(from) ? step : withIds(step, 'depends_on', [...ids, from]);
    }
    return step.id === from && branch !== undefined ? intoBranch(step, to, branch) : step;
  });
}

/** Adds `to` to a branch of the condition. A step may be in both branches. */
function intoBranch(step: Step, to: string, branch: Branch): Step {
  const ids = idsIn(step[branch]);
  return ids.includes(to) ? step : withIds(step, branch, [...ids, to]);
}

function disconnect(draft: Draft, from: string, to: string): Draft {
  stepOf(draft, from);
  requireConnected(draft, from, to);
  return mapSteps(draft, step => {
    if (step.id === to) return withIds(step, 'depends_on', replaceId(idsIn(step.depends_on), from, []));
    if (step.id !== from) return step;
    const then = withIds(step, 'then', replaceId(idsIn(step.then), to, []));
    return withIds(then, 'else', replaceId(idsIn(then.else), to, []));
  });
}

function requireConnected(draft: Draft, from: string, to: string): void {
  if (!idsIn(stepOf(draft, to).depends_on).includes(from)) {
    throw new CannotApply('not_connected', `"${to}" does not depend on "${from}".`);
  }
}

function insertBetween(draft: Draft, from: string, to: string, step: Step): Draft {
  requireFree(draft, step.id);
  stepOf(draft, from);
  requireConnected(draft, from, to);
  if (idsIn(step.depends_on).some(id => comesBefore(draft, to, id))) {
    throw new CannotApply('would_be_cycle', `"${step.id}" would depend on what comes after it.`);
  }
  const inserted = withIds(step, 'depends_on', [...new Set([from, ...idsIn(step.depends_on)])]);
  const at = draft.graph.steps.findIndex(each => each.id === to);
  const connected = mapSteps(draft, each => {
    if (each.id === to) return withIds(each, 'depends_on', replaceId(idsIn(each.depends_on), from, [step.id]));
    if (each.id !== from) return each;
    const then = withIds(each, 'then', replaceId(idsIn(each.then), to, [step.id]));
    return withIds(then, 'else', replaceId(idsIn(then.else), to, [step.id]));
  });
  return withSteps(connected, connected.graph.steps.toSpliced(at, 0, inserted));
}

function move(draft: Draft, id: string, position: { x: number; y: number } | null): Draft {
  const step = stepOf(draft, id);
  const moved = position === null ? withStepFields(step, {}, ['position']) : withStepFields(step, { position });
  return mapSteps(draft, each => (each === step ? moved : each));
}

function setNote(draft: Draft, note: Note): Draft {
  const { notes = [] } = draft.graph;
  const at = notes.findIndex(({ id }) => id === note.id);
  const old = notes[at];
  if (old !== undefined && sameJson(old, note)) return draft;
  return withNotes(draft, old === undefined ? [...notes, note] : notes.with(at, note));
}

function removeNote(draft: Draft, id: string): Draft {
  const { notes = [] } = draft.graph;
  if (!notes.some(note => note.id === id)) throw new CannotApply('note_not_found', `There is no note "${id}".`);
  return withNotes(
    draft,
    notes.filter(note => note.id !== id),
  );
}

function updateGraph(
  draft: Draft,
  set: { readonly [field: string]: Json | undefined },
  unset: readonly string[],
): Draft {
  const fields = graphFields(draft.graph);
  const given = Object.entries(set).filter((entry): entry is [string, Json] => entry[1] !== undefined);
  const changed = given.filter(
    ([field, value]) => !Object.hasOwn(fields, field) || !identicalJson(fields[field], value),
  );
  const removed = unset.filter(field => Object.hasOwn(fields, field));
  if (changed.length === 0 && removed.length === 0) return draft;
  return { ...draft, graph: withFields(draft.graph as Fields, Object.fromEntries(changed), removed) as Graph };
}

const withNotes = (draft: Draft, notes: readonly Note[]): Draft => ({ ...draft, graph: { ...draft.graph, notes } });
