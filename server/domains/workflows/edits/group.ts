import { type Draft, type Edit, idsIn, type Json, type Step, withStepFields } from './draft.ts';
import { escaped } from './escaped.ts';
import { leadToParts, redirectInStep, redirectInValue, type Target } from './redirect.ts';
import { codeFieldsOf, innerOf, readsInValue } from './references.ts';
import { restoreOf } from './restore.ts';
import {
  BRANCHES,
  CannotRegroup,
  cannotRead,
  connectedTo,
  middleOf,
  named,
  readsStep,
  requireNoScript,
  requireNotAddressed,
  type Selection,
  selectionIn,
  withoutOutside,
} from './selection.ts';

/** The edit that regroups steps, or the reason why they cannot be regrouped. */
export type Regrouping = { ok: true; edit: Edit; step: string; draft: Draft } | { ok: false; message: string };

/** The fields of a graph that hold templates. */
const GRAPH_TEXTS = ['output', 'searchable'] as const;
/** The maximum number of loops around a step (docs/specification/steps.md#for_each). */
const MAX_NESTING = 2;

/** The list of a new loop, with one item, so that its steps still run once. In a loop, the item is that of the outer loop. */
export const ONE_ITEM = { outside: '[1]', inside: '[item]' };

/** Runs `make` and returns its change of the draft as one edit. A CannotRegroup becomes a message. */
export function regrouped(draft: Draft, make: () => { draft: Draft; step: string }): Regrouping {
  try {
    const { draft: after, step } = make();
    return { ok: true, edit: restoreOf(after, draft), step, draft: after };
  } catch (error) {
    if (error instanceof CannotRegroup) return { ok: false, message: error.message };
    throw error;
  }
}

/**
 * Replaces steps by a new loop with the id `loop` that contains them. Readers of their results read the results of the first item. `depth`:
 * the number of loops around the draft's steps.
 */
export function groupIntoLoop(draft: Draft, ids: readonly string[], loop: string, depth = 0): Regrouping {
  return regrouped(draft, () => {
    const selection = selectionIn(draft, ids);
    const { inside, outside, isChosen, before } = selection;
    requireShallow(depth + 1, inside);
    requireNotAddressed(draft, inside);
    requireNoScript(outside, inside);
    const counted = depth > 0 ? inside.find(step => mentionsItem(step, /\bindex\b/)) : undefined;
    if (counted) throw new CannotRegroup(`${named(counted)} reads the index of the loop around it. Change that first.`);
    const targetOf = targetsIn(loop, selection);
    const position = middleOf(inside);
    const step: Step = {
      id: loop,
      type: 'for_each',
      ...(before.length === 0 ? {} : { depends_on: before }),
      items: depth > 0 ? ONE_ITEM.inside : ONE_ITEM.outside,
      steps: inside.map(each => withoutOutside(each, isChosen)),
      ...(position === undefined ? {} : { position }),
    };
    const around = redirectReaders(connectedTo(loop, selection), inside, targetOf);
    const at = draft.graph.steps
      .slice(0, draft.graph.steps.indexOf(inside[0] as Step))
      .filter(each => !isChosen(each.id));
    const steps = around.toSpliced(at.length, 0, step);
    return { draft: withTexts({ ...draft, graph: { ...draft.graph, steps } }, inside, targetOf), step: loop };
  });
}

/** Refuses steps in too many loops. `depth`: the number of loops around all steps. */
export function requireShallow(depth: number, steps: readonly Step[]): void {
  if (depth + Math.max(0, ...steps.map(depthOf)) > MAX_NESTING)
    throw new CannotRegroup(`A step can be in at most ${MAX_NESTING} loops.`);
}

const depthOf = (step: Step): number => (step.type === 'for_each' ? 1 + Math.max(0, ...innerOf(step).map(depthOf)) : 0);

/** Returns the paths to the results of steps in a new loop. Only the last steps have a result of an item. */
function targetsIn(loop: string, { last }: Selection): (step: Step) => Target {
  return step => {
    const error = `steps.${loop}.error`;
    if (!last.includes(step)) return { result: null, error };
    const first = `steps.${loop}.result.results[0]`;
    return { result: last.length === 1 ? first : `${first}${keyPath(step.id)}`, error };
  };
}

/** Returns the path to a key in templates and expressions. */
export const keyPath = (key: string): string => (/^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`);

/** Redirects references of the readers to the steps of `read`. */
export function redirectReaders(
  readers: readonly Step[],
  read: readonly Step[],
  targetOf: (step: Step, reader: Step) => Target,
): Step[] {
  return readers.map(reader => {
    let next = reader;
    for (const step of read) {
      if (!readsStep(next, step.id)) continue;
      const to = targetOf(step, reader);
      if (to.result === null) throw notLast(named(reader), step);
      const redirected = redirectInStep(next, step.id, to);
      if (redirected === null) throw cannotRead(reader, step);
      next = redirected;
    }
    return next;
  });
}

const notLast = (reader: string, step: Step) =>
  new CannotRegroup(`${reader} reads the result of ${named(step)}, which is not the last of the selected steps.`);

/** Changes the output and the searchable values of the workflow. `what`: the name of the text in messages. */
export function mapGraphTexts(draft: Draft, change: (value: Json, what: string) => Json): Draft {
  const fields: Record<string, Json> = {};
  for (const field of GRAPH_TEXTS) {
    const value: Json | undefined = draft.graph[field];
    if (value === undefined) continue;
    const next = change(value, field === 'output' ? 'The output of the workflow' : 'A searchable value');
    if (next !== value) fields[field] = next;
  }
  return Object.keys(fields).length === 0 ? draft : { ...draft, graph: { ...draft.graph, ...fields } };
}

/** Redirects references in the workflow's output and searchable values. */
export function withTexts(draft: Draft, read: readonly Step[], targetOf: (step: Step) => Target): Draft {
  return mapGraphTexts(draft, (given, what) => {
    let value = given;
    for (const step of read) {
      if (!readsInValue(value, step.id)) continue;
      const to = targetOf(step);
      if (to.result === null) throw notLast(what, step);
      const redirected = redirectInValue(value, step.id, to);
      if (redirected === null) throw new CannotRegroup(`${what} reads ${named(step)} as a whole. Change that first.`);
      value = redirected;
    }
    return value;
  });
}

/** Returns whether a template, expression or script of a step mentions the item of a loop or its index. */
export function mentionsItem(step: Step, words: RegExp): boolean {
  const inValue = (value: Json, isCode: boolean): boolean => {
    if (typeof value === 'string') {
      const texts = isCode ? [value] : [...value.matchAll(/\{\{[\s\S]*?\}\}/g)].map(([text]) => text);
      return texts.some(text => words.test(text));
    }
    if (typeof value !== 'object' || value === null) return false;
    return Object.entries(value).some(([key, each]) => inValue(key, false) || inValue(each as Json, isCode));
  };
  const codes = codeFieldsOf(step.type);
  return Object.entries(step).some(([field, value]) => {
    if (field === 'id' || field === 'type' || field === 'name') return false;
    // The steps of an inner loop read the item of the inner loop. Only its list reads the outer item.
    if (field === 'steps' && step.type === 'for_each') return false;
    return inValue(
      value,
      codes.some(code => code.field === field),
    );
  });
}

/**
 * Replaces a loop by its steps, which then run once. `depth`: the number of loops around it. Refuses a loop whose steps read its item, unless
 * `groupIntoLoop` made the loop with the item of the outer loop.
 */
export function dissolveLoop(draft: Draft, id: string, depth = 0): Regrouping {
  return regrouped(draft, () => {
    const loop = draft.graph.steps.find(step => step.id === id);
    const inner = loop === undefined ? [] : innerOf(loop);
    if (loop === undefined || inner.length === 0) throw new CannotRegroup('Select a loop that has steps.');
    const keepsItem = depth > 0 && typeof loop.items === 'string' && loop.items.replaceAll(' ', '') === ONE_ITEM.inside;
    const reader = inner.find(step => mentionsItem(step, keepsItem ? /\bindex\b/ : /\b(?:item|index)\b/));
    if (reader)
      throw new CannotRegroup(
        `${named(reader)} reads the item of the loop, which there is only in a loop. Change that first.`,
      );
    requireFreeIds(draft, loop, inner);
    requireNotAddressed(draft, [loop]);
    const { first, last } = selectionIn(
      { ...draft, graph: { steps: inner } },
      inner.map(step => step.id),
    );
    const readers = draft.graph.steps.filter(step => step !== loop);
    requireNoScript(readers, [loop]);
    const body = placedAt(inner, loop.position).map((step, at) =>
      entered(step, loop, first.includes(inner[at] as Step)),
    );
    const outside = readers.map(step => leftFrom(loop.id, step, first, last));
    const at = draft.graph.steps.indexOf(loop);
    const steps = [
      ...unwrapReaders(outside.slice(0, at), loop, last),
      ...body,
      ...unwrapReaders(outside.slice(at), loop, last),
    ];
    const graph = unwrapTexts({ ...draft, graph: { ...draft.graph, steps } }, loop, last);
    return { draft: graph, step: body[0]?.id ?? id };
  });
}

function requireFreeIds({ graph }: Draft, loop: Step, inner: readonly Step[]): void {
  const taken = new Set(graph.steps.filter(step => step !== loop).flatMap(step => [step.id, ...innerIds(step)]));
  const same = inner.flatMap(step => [step.id, ...innerIds(step)]).find(each => taken.has(each));
  if (same !== undefined)
    throw new CannotRegroup(`There is another step with the ID “${same}”. Change one of the two IDs first.`);
}

export const innerIds = (step: Step): string[] => innerOf(step).flatMap(each => [each.id, ...innerIds(each)]);

/** Returns a step of a dissolved loop. First steps get the dependencies of the loop, and all steps are disabled if the loop was. */
export function entered(step: Step, loop: Step, isFirst: boolean): Step {
  const before = idsIn(loop.depends_on);
  const after = isFirst && before.length > 0 ? withStepFields(step, { depends_on: [...before] }) : step;
  return loop.disabled === true ? withStepFields(after, { disabled: true }) : after;
}

/** Replaces a dissolved loop by its first and last steps in the connections of another step. */
export function leftFrom(loop: string, step: Step, first: readonly Step[], last: readonly Step[]): Step {
  const instead = (ids: readonly string[], by: readonly Step[]) => [
    ...new Set(ids.flatMap(id => (id === loop ? by.map(each => each.id) : [id]))),
  ];
  let next = step;
  if (idsIn(step.depends_on).includes(loop))
    next = withStepFields(next, { depends_on: instead(idsIn(step.depends_on), last) });
  for (const branch of BRANCHES)
    if (idsIn(step[branch]).includes(loop))
      next = withStepFields(next, { [branch]: instead(idsIn(step[branch]), first) });
  return next;
}

/** The distance between steps without a position, in pixels. */
const ROW = 116;

/** Moves steps to the place of the step that they replace. Without a position, the layout places all steps. */
export function placedAt(steps: readonly Step[], position: Json | undefined): readonly Step[] {
  const to = position as { x?: unknown; y?: unknown } | null | undefined;
  if (typeof to?.x !== 'number' || typeof to.y !== 'number')
    return steps.map(step => withStepFields(step, {}, ['position']));
  const { x, y } = to;
  const middle = middleOf(steps) as { x: number; y: number } | undefined;
  return steps.map((step, at) => {
    const own = step.position as { x: number; y: number };
    const moved = middle === undefined ? { x, y: y + at * ROW } : { x: own.x - middle.x + x, y: own.y - middle.y + y };
    return withStepFields(step, { position: moved });
  });
}

/** Redirects readers of the first item's result to the last step. Refuses readers of anything else of the loop. */
function unwrapReaders(readers: readonly Step[], loop: Step, last: readonly Step[]): Step[] {
  return readers.map(reader => {
    if (!readsStep(reader, loop.id)) return reader;
    const unwrapped = unwrap(last, to => redirectInStep(reader, loop.id, to));
    if (unwrapped === null || readsStep(unwrapped, loop.id)) throw readsAll(named(reader), loop);
    return unwrapped;
  });
}

function unwrapTexts(draft: Draft, loop: Step, last: readonly Step[]): Draft {
  return mapGraphTexts(draft, (value, what) => {
    if (!readsInValue(value, loop.id)) return value;
    const unwrapped = unwrap(last, to => redirectInValue(value, loop.id, to));
    if (unwrapped === null || readsInValue(unwrapped, loop.id)) throw readsAll(what, loop);
    return unwrapped;
  });
}

const readsAll = (reader: string, loop: Step) =>
  new CannotRegroup(`${reader} reads the list of all results of ${named(loop)}. Change that first.`);

/** Redirects `steps.<loop>.result.results[0]` to the step with this result, and keeps the rest of the path. */
function unwrap<T extends Json>(last: readonly Step[], redirect: (to: Target) => T | null): T | null {
  const [only] = last;
  const led = leadToParts(redirect, (text, path) => {
    const first = `${path}.results[0]`;
    if (last.length === 1 && only !== undefined) return text.replaceAll(first, `steps${keyPath(only.id)}.result`);
    return last.reduce((next, step) => {
      const part = new RegExp(`${escaped(`${first}${keyPath(step.id)}`)}(?![\\w-])`, 'g');
      return next.replace(part, () => `steps${keyPath(step.id)}.result`);
    }, text);
  });
  return led.ok ? led.value : null;
}
