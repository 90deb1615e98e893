import { type Draft, type Fields, type Graph, type Json, type Step, withStepFields } from './draft.ts';
import { escaped } from './escaped.ts';
import {
  entered,
  innerIds,
  keyPath,
  leftFrom,
  mapGraphTexts,
  mentionsItem,
  placedAt,
  type Regrouping,
  redirectReaders,
  regrouped,
  requireShallow,
  withTexts,
} from './group.ts';
import { asksForInput, inputsOf, replaceInputs } from './inputs.ts';
import { leadToParts, redirectInStep, redirectInValue, type Target } from './redirect.ts';
import { readsInValue } from './references.ts';
import { renameWhole } from './rename.ts';
import {
  CannotRegroup,
  cannotRead,
  connectedTo,
  middleOf,
  named,
  readsStep,
  requireNoScript,
  requireNotAddressed,
  selectionIn,
  withoutOutside,
} from './selection.ts';

/** The step that calls the new workflow. */
export type Call = { step: string; workflow: string; name: string };
/** The result of an extraction. `graph`: the graph of the new workflow. */
export type Extraction = (Regrouping & { ok: true; graph: Graph }) | (Regrouping & { ok: false });

/**
 * Moves steps into a new workflow, and replaces them by a step that calls it. Values that the steps read from outside become its input, and
 * results that others read become its output. `around`: the ids of steps around the loop, if the draft is the body of a loop.
 */
export function extractWorkflow(
  draft: Draft,
  ids: readonly string[],
  call: Call,
  around: readonly string[] = [],
): Extraction {
  let graph: Graph = { steps: [] };
  const result = regrouped(draft, () => {
    const selection = selectionIn(draft, ids);
    const { inside, outside, isChosen, before } = selection;
    requireNotAddressed(draft, inside);
    requireNoScript(outside, inside);
    const reader = inside.find(step => around.length > 0 && mentionsItem(step, /\b(?:item|index)\b/));
    if (reader)
      throw new CannotRegroup(`${named(reader)} reads the item of the loop, which another workflow does not have.`);
    const input = new Map<string, Json>();
    const readable = [...outside.map(({ id }) => id), ...around];
    const names = namesFor(readable, inputFields(inside));
    const steps = withInputs(inside, { readable, names, input, draft });
    const results = new Map<string, string>();
    const keys = namesFor(
      inside.map(({ id }) => id),
      [],
    );
    const targetOf = (step: Step): Target => {
      const key = keys.get(step.id) ?? step.id;
      results.set(key, `{{steps${keyPath(step.id)}.result ?? null}}`);
      return { result: `steps.${call.step}.result.${key}`, error: null };
    };
    const redirected = redirectReaders(connectedTo(call.step, selection), inside, targetOf);
    const position = middleOf(inside);
    const step: Step = {
      id: call.step,
      type: 'call_workflow',
      name: call.name,
      ...(before.length === 0 ? {} : { depends_on: before }),
      workflow_id: call.workflow,
      ...(input.size === 0 ? {} : { input: Object.fromEntries(input) }),
      ...(position === undefined ? {} : { position }),
    };
    const at = draft.graph.steps
      .slice(0, draft.graph.steps.indexOf(inside[0] as Step))
      .filter(each => !isChosen(each.id));
    const changed = { ...draft, graph: { ...draft.graph, steps: redirected.toSpliced(at.length, 0, step) } };
    const after = withTexts(changed, inside, targetOf);
    graph = {
      steps: steps.map(each => withoutOutside(each, isChosen)),
      ...(results.size === 0 ? {} : { output: Object.fromEntries(results) }),
    };
    return { draft: after, step: call.step };
  });
  return result.ok ? { ...result, graph } : result;
}

/** Returns the fields of the input that the steps read. */
function inputFields(inside: readonly Step[]): string[] {
  return inside.flatMap(step => {
    const read = inputsOf(step);
    if (read === null || asksForInput(step))
      throw new CannotRegroup(
        `${named(step)} reads the whole input, or asks what it has. Let it read its fields first.`,
      );
    return read.map(({ field }) => field);
  });
}

/** Returns a unique name for each id that templates, expressions and scripts can read. */
function namesFor(ids: readonly string[], taken: readonly string[]): Map<string, string> {
  const used = new Set(taken);
  return new Map(
    ids.map(id => {
      const base = id.replaceAll('-', '_');
      let name = base;
      for (let n = 2; used.has(name); n += 1) name = `${base}_${n}`;
      used.add(name);
      return [id, name];
    }),
  );
}

type Inputs = {
  readable: readonly string[];
  names: ReadonlyMap<string, string>;
  input: Map<string, Json>;
  draft: Draft;
};

/** Returns the steps for the new workflow, and collects its input. */
function withInputs(inside: readonly Step[], { readable, names, input, draft }: Inputs): Step[] {
  const guarded = new Map<string, boolean>();
  for (const step of inside)
    for (const { field, isGuarded } of inputsOf(step) ?? [])
      guarded.set(field, isGuarded || guarded.get(field) === true);
  for (const [field, isGuarded] of guarded)
    input.set(field, `{{input${keyPath(field)}${isGuarded ? ' ?? null' : ''}}}`);
  const steps = new Map(draft.graph.steps.map(step => [step.id, step]));
  return inside.map(step => {
    let next = step;
    for (const id of readable) {
      if (!readsStep(next, id)) continue;
      const read = steps.get(id) ?? { id, type: '' };
      requireNoScript([next], [read]);
      const name = names.get(id) ?? id;
      const redirected = redirectInStep(next, id, { result: `input.${name}`, error: null });
      if (redirected === null) throw cannotRead(step, read);
      next = redirected;
      input.set(name, `{{steps${keyPath(id)}.result}}`);
    }
    return next;
  });
}

/** A value that a call passes: a path that can replace the input, or another value. */
type Given = { path: string; isGuarded: boolean } | { value: Json };
const PATH =
  /^\{\{\s*((?:input|steps|item|index)(?:\s*\.\s*[A-Za-z_][\w-]*|\[\d+\]|\["[^"\\]*"\])*)\s*(\?\?\s*null\s*)?\}\}$/;

function givenBy(value: Json): Given {
  const [, path, guard] = typeof value === 'string' ? (PATH.exec(value) ?? []) : [];
  return path === undefined ? { value } : { path, isGuarded: guard !== undefined };
}

const hasTemplate = (value: Json): boolean =>
  typeof value === 'string'
    ? value.includes('{{')
    : typeof value === 'object' &&
      value !== null &&
      Object.entries(value).some(([key, each]) => hasTemplate(key) || hasTemplate(each as Json));

export type Inlining = {
  graph: Graph /** Ids that no step may have, in addition to those of the draft. */;
  reserved: readonly string[];
  depth: number;
};

/** Replaces a step that calls a workflow by the steps of that workflow. */
export function inlineWorkflow(draft: Draft, id: string, { graph, reserved, depth }: Inlining): Regrouping {
  return regrouped(draft, () => {
    const call = draft.graph.steps.find(step => step.id === id);
    if (call?.type !== 'call_workflow') throw new CannotRegroup('Select a step that calls a workflow.');
    requirePlainCall(call, graph);
    requireNotAddressed(draft, [call]);
    requireNotAddressed({ ...draft, run_setup: {} }, graph.steps);
    requireShallow(depth, graph.steps);
    const renamed = withFreeIds(draft, call, graph, reserved);
    const inner = renamed.steps.map(step => withGiven(step, call));
    const readers = draft.graph.steps.filter(step => step !== call);
    requireNoScript(readers, [call]);
    const { first, last } = selectionIn(
      { ...draft, graph: { steps: inner } },
      inner.map(step => step.id),
    );
    const body = placedAt(inner, call.position).map((step, at) =>
      entered(step, call, first.includes(inner[at] as Step)),
    );
    const lead = <T extends Json>(what: string, redirect: (to: Target) => T | null): T =>
      led(what, { call, output: renamed.output, last, redirect });
    const outside = readers.map(step => {
      const connected = leftFrom(id, step, first, last);
      return readsStep(connected, id) ? lead(named(step), to => redirectInStep(connected, id, to)) : connected;
    });
    const at = draft.graph.steps.indexOf(call);
    const steps = outside.toSpliced(at, 0, ...body);
    const placed = { ...draft, graph: { ...draft.graph, steps } };
    const after = mapGraphTexts(placed, (value, what) =>
      readsInValue(value, id) ? lead(what, to => redirectInValue(value, id, to)) : value,
    );
    return { draft: after, step: body[0]?.id ?? id };
  });
}

/** Refuses calls with settings that the inlined steps could not reproduce. */
function requirePlainCall(call: Step, graph: Graph): void {
  const refuse = (why: string) => new CannotRegroup(`${named(call)} ${why}, which its steps alone would not do.`);
  if (graph.steps.length === 0) throw new CannotRegroup('The called workflow has no steps.');
  if (call.detach === true) throw refuse('does not wait for the called run');
  if (call.on_error === 'continue') throw refuse('goes on where the called run fails');
  if (typeof call.retry_count === 'number' && call.retry_count > 0)
    throw refuse('starts the workflow again where it fails');
  if (call.timeout_s !== undefined) throw refuse('limits how long the workflow takes');
  if (graph.on_failure !== undefined) throw refuse('calls a workflow that starts another one where it fails');
  if (graph.searchable !== undefined) throw refuse('calls a workflow whose runs are found by their values');
}

function withFreeIds(draft: Draft, call: Step, graph: Graph, reserved: readonly string[]): Graph {
  const others = draft.graph.steps.filter(step => step !== call);
  const taken = new Set([
    ...others.flatMap(step => [step.id, ...innerIds(step)]),
    ...reserved.filter(id => id !== call.id),
  ]);
  let sub: Draft = { name: '', description: '', graph: { steps: graph.steps, output: graph.output }, run_setup: {} };
  const clash = graph.steps.flatMap(innerIds).find(id => taken.has(id));
  if (clash !== undefined)
    throw new CannotRegroup(`There is another step with the ID “${clash}”. Change one of the two IDs first.`);
  for (const step of graph.steps) {
    if (!taken.has(step.id)) continue;
    const all = new Set([...taken, ...sub.graph.steps.flatMap(each => [each.id, ...innerIds(each)])]);
    let n = 2;
    while (all.has(`${step.id.slice(0, 58)}_${n}`)) n += 1;
    const { draft: next, unrewritten } = renameWhole(sub, { from: step.id, to: `${step.id.slice(0, 58)}_${n}` });
    if (unrewritten.length > 0)
      throw new CannotRegroup(`There is another step with the ID “${step.id}”, and a script of the workflow reads it.`);
    sub = next;
  }
  return sub.graph;
}

/** Returns a step of the called workflow that reads the passed values directly. */
function withGiven(step: Step, call: Step): Step {
  const given = (typeof call.input === 'object' && call.input !== null ? call.input : {}) as Fields;
  const refuse = (why: string) => new CannotRegroup(`${named(step)} ${why}`);
  if (asksForInput(step)) throw refuse('asks whether its workflow got an input.');
  const whole = withValues(step, given);
  const next = replaceInputs(whole, ({ field, isGuarded, kind }) => {
    if (!Object.hasOwn(given, field))
      throw refuse(`reads the input “${field}”, which ${named(call)} does not hand over.`);
    const from = givenBy(given[field] as Json);
    if (!('path' in from))
      throw refuse(`uses the input “${field}” within a text or an expression, and it is no plain reference.`);
    const isSame = from.path === `input${keyPath(field)}`;
    if (kind === 'script' && !isSame)
      throw refuse(`reads the input “${field}” in its script. Change the script first.`);
    if (from.isGuarded && !isGuarded && kind !== 'template')
      throw refuse(`reads the input “${field}”, which may be missing, in an expression.`);
    return from.path;
  });
  if (next === null) throw refuse('reads the whole input of its workflow.');
  return next;
}

/** Replaces texts that consist only of an input by the passed value, if the value has no templates. */
function withValues(step: Step, given: Fields): Step {
  const walk = (value: Json): Json => {
    if (typeof value === 'string') {
      const [, dotted, quoted] =
        /^\{\{\s*input(?:\.([A-Za-z_]\w*)|\["([^"\\]*)"\])\s*(?:\?\?[\s\S]*)?\}\}$/.exec(value) ?? [];
      const field = dotted ?? quoted;
      const put = field !== undefined && Object.hasOwn(given, field) ? given[field] : undefined;
      return put !== undefined && put !== null && !hasTemplate(put) ? put : value;
    }
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return (value as readonly Json[]).map(walk);
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, walk(each as Json)]));
  };
  const code = step.type === 'lua_script' ? 'script' : undefined;
  const fields = Object.entries(step).filter(([field]) => !['id', 'type', 'steps', code].includes(field));
  return withStepFields(step, Object.fromEntries(fields.map(([field, value]) => [field, walk(value)])));
}

type Led<T> = { call: Step; output: Json | undefined; last: readonly Step[]; redirect: (to: Target) => T | null };

/** Redirects readers of the called workflow's output to the results from which the output was made. */
function led<T extends Json>(what: string, { call, output, last, redirect }: Led<T>): T {
  const paths = pathsOf(output, last);
  const found = leadToParts(redirect, (text, result) => {
    if (typeof paths === 'string') return text.replaceAll(result, paths);
    let next = text;
    for (const [key, path] of paths) {
      const at = `(?:\\.${escaped(key)}(?![\\w-])|\\[\\s*["']${escaped(key)}["']\\s*\\])`;
      next = next.replace(new RegExp(`${escaped(result)}${at}`, 'g'), () => path);
    }
    return next;
  });
  if (found.ok) return found.value;
  throw new CannotRegroup(
    found.reads === 'whole'
      ? `${what} reads ${named(call)} as a whole, or its error. Change that first.`
      : `${what} reads a part of the output of ${named(call)} that is not the result of one step.`,
  );
}

/** Returns the paths in a workflow's output by field, or one path if the output is a single result. */
function pathsOf(output: Json | undefined, last: readonly Step[]): string | Map<string, string> {
  if (output === undefined) {
    const all = last.map(({ id }): [string, string] => [id, `steps${keyPath(id)}.result`]);
    return all.length === 1 ? (all[0]?.[1] ?? '') : new Map(all);
  }
  const pathOf = (value: Json) => {
    const given = givenBy(value);
    return 'path' in given && given.path.startsWith('steps') ? given.path : null;
  };
  const single = pathOf(output);
  if (single !== null) return single;
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return new Map();
  return new Map(
    Object.entries(output).flatMap(([key, value]): [string, string][] => {
      const path = pathOf(value as Json);
      return path === null ? [] : [[key, path]];
    }),
  );
}
