import { type Branch, type Draft, idsIn, type Json, type Step, withStepFields } from './draft.ts';
import { luaReferences, readsStep } from './references.ts';

/** Thrown if steps cannot be regrouped. The message is a sentence for the user. */
export class CannotRegroup extends Error {}

export const BRANCHES: readonly Branch[] = ['then', 'else'];
/** Returns the name of a step for messages. */
export const named = (step: Step): string =>
  `“${typeof step.name === 'string' && step.name !== '' ? step.name : step.id}”`;

/** Selected steps, the steps around them, and how they are connected. */
export type Selection = {
  inside: readonly Step[];
  outside: readonly Step[];
  isChosen: (id: string) => boolean;
  /** The outside steps on which inner steps depend. */
  before: readonly string[];
  /** The inner steps that depend on no other inner step. */
  first: readonly Step[];
  /** The inner steps on which no other inner step depends. */
  last: readonly Step[];
};

/** Returns the selected steps of a draft. Throws CannotRegroup if a single step in their place would be on a cycle. */
export function selectionIn({ graph }: Draft, ids: readonly string[]): Selection {
  const chosen = new Set(ids);
  const isChosen = (id: string) => chosen.has(id);
  const inside = graph.steps.filter(({ id }) => isChosen(id));
  if (inside.length === 0) throw new CannotRegroup('Select the steps first.');
  const outside = graph.steps.filter(({ id }) => !isChosen(id));
  const known = new Set(graph.steps.map(({ id }) => id));
  const before = [...new Set(inside.flatMap(step => idsIn(step.depends_on)))].filter(
    id => !isChosen(id) && known.has(id),
  );
  requireTogether(outside, before, isChosen);
  const needed = new Set(inside.flatMap(step => idsIn(step.depends_on)));
  return {
    inside,
    outside,
    isChosen,
    before,
    first: inside.filter(step => !idsIn(step.depends_on).some(isChosen)),
    last: inside.filter(({ id }) => !needed.has(id)),
  };
}

/** Refuses a selection with an outside step between selected steps, because that step would depend on its own dependent. */
function requireTogether(outside: readonly Step[], before: readonly string[], isChosen: (id: string) => boolean): void {
  const steps = new Map(outside.map(step => [step.id, step]));
  const open = [...before];
  const seen = new Set<string>();
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const step = steps.get(id);
    if (step === undefined || seen.has(id)) continue;
    seen.add(id);
    if (idsIn(step.depends_on).some(isChosen))
      throw new CannotRegroup(`${named(step)} runs between the selected steps. Select it, too.`);
    open.push(...idsIn(step.depends_on));
  }
}

/** Refuses steps that are gated or can be changed at start, because only steps of the top level can be. */
export function requireNotAddressed({ run_setup }: Draft, inside: readonly Step[]): void {
  const overrides = run_setup.trigger_steps;
  for (const step of inside) {
    if (step.gated === true)
      throw new CannotRegroup(`${named(step)} runs only when started by name. Turn that off first.`);
    if (Array.isArray(step.overridable) && step.overridable.length > 0)
      throw new CannotRegroup(`Fields of ${named(step)} can be changed at start. Turn that off first.`);
    const isOverridden = typeof overrides === 'object' && overrides !== null && Object.hasOwn(overrides, step.id);
    if (isOverridden) throw new CannotRegroup(`The settings of runs change ${named(step)}. Remove that there first.`);
  }
}

/**
 * Returns the outside steps, connected to `to` instead of the selected steps. Throws CannotRegroup if a branch of a condition cannot be
 * connected to a single step.
 */
export function connectedTo(to: string, { inside, outside, first, isChosen }: Selection): Step[] {
  for (const step of inside) {
    const leaving = BRANCHES.flatMap(branch => idsIn(step[branch])).find(
      id => !isChosen(id) && outside.some(other => other.id === id),
    );
    const other = outside.find(({ id }) => id === leaving);
    if (other !== undefined)
      throw new CannotRegroup(`A branch of ${named(step)} leads to ${named(other)}. Select both or neither.`);
  }
  const entries = first.map(({ id }) => id);
  return outside.map(step => {
    let next = step;
    const after = [...new Set(idsIn(step.depends_on).map(id => (isChosen(id) ? to : id)))];
    if (idsIn(step.depends_on).some(isChosen)) next = withStepFields(next, { depends_on: after });
    for (const branch of BRANCHES) {
      const ids = idsIn(step[branch]);
      if (!ids.some(isChosen)) continue;
      if (!entries.every(id => ids.includes(id)))
        throw new CannotRegroup(`A branch of ${named(step)} leads to some of the selected steps only. Select fewer.`);
      next = withStepFields(next, { [branch]: [...new Set(ids.map(id => (isChosen(id) ? to : id)))] });
    }
    return next;
  });
}

/** Returns a selected step without its connections to steps outside. */
export function withoutOutside(step: Step, isChosen: (id: string) => boolean): Step {
  let next = step;
  for (const field of ['depends_on', ...BRANCHES]) {
    const ids = idsIn(step[field]);
    const kept = ids.filter(isChosen);
    if (kept.length === ids.length) continue;
    next = kept.length === 0 ? withStepFields(next, {}, [field]) : withStepFields(next, { [field]: kept });
  }
  return next;
}

/** Refuses scripts that read the result of another step by its id, because only a person can change them. */
export function requireNoScript(readers: readonly Step[], read: readonly Step[]): void {
  for (const reader of readers)
    for (const step of read)
      if (luaReferences(reader, step.id).length > 0)
        throw new CannotRegroup(
          `The script of ${named(reader)} reads the result of ${named(step)}, which would be elsewhere. Change the script first.`,
        );
}

/** Returns the error for a reference that cannot be redirected. */
export const cannotRead = (reader: Step, read: Step): CannotRegroup =>
  new CannotRegroup(`${named(reader)} reads more of ${named(read)} than its result. Change that first.`);

export { readsStep };

/** Returns the middle of the positions of steps; undefined if a step has no position. */
export function middleOf(steps: readonly Step[]): Json | undefined {
  const points = steps.map(({ position }) => position as { x?: unknown; y?: unknown } | null | undefined);
  const [xs, ys] = [points.map(point => point?.x), points.map(point => point?.y)];
  const isNumber = (value: unknown): value is number => typeof value === 'number';
  if (!xs.every(isNumber) || !ys.every(isNumber)) return undefined;
  return { x: Math.round((Math.min(...xs) + Math.max(...xs)) / 2), y: Math.min(...ys) };
}
