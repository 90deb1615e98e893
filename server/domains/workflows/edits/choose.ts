import { diff, isReordered, stepsById } from './diff.ts';
import { type Draft, idsIn, type Step } from './draft.ts';
import { inOrder } from './restore.ts';

/** A step of the result that refers to a step which the choice leaves out. */
export type Needed = { step: string; needs: string };
export type Chosen = { ok: true; draft: Draft } | { ok: false; unknown: readonly string[]; needed: readonly Needed[] };

/**
 * Returns `base` with the changes of the given steps from `draft`, and no other changes. Not ok if a given step does not differ, or if a step
 * of the result would refer to a missing step.
 */
export function choose(base: Draft, draft: Draft, steps: readonly string[]): Chosen {
  const chosen = new Set(steps);
  const changed = new Set(diff(base, draft).steps.map(({ step }) => step));
  const [before, after] = [stepsById(base), stepsById(draft)];
  const taken = new Map<string, Step>();
  for (const id of new Set([...before.keys(), ...after.keys()])) {
    const step = chosen.has(id) ? after.get(id) : before.get(id);
    if (step !== undefined) taken.set(id, step);
  }
  const unknown = steps.filter(id => !changed.has(id));
  const needed = [...taken.values()].flatMap(step => {
    const own = chosen.has(step.id) ? after : before;
    return referencesOf(step).flatMap(id => (own.has(id) && !taken.has(id) ? [{ step: step.id, needs: id }] : []));
  });
  if (unknown.length > 0 || needed.length > 0) return { ok: false, unknown, needed };
  const graph = { ...base.graph, steps: orderSteps([...taken.values()], base, draft) };
  return { ok: true, draft: { ...base, graph } };
}

const referencesOf = (step: Step): string[] => [...idsIn(step.depends_on), ...idsIn(step.then), ...idsIn(step.else)];

/** Orders steps like `base`, or like `draft` if it has another order, with steps that only one draft has at their place there. */
function orderSteps(steps: readonly Step[], base: Draft, draft: Draft): readonly Step[] {
  const order = (isReordered(base, draft) ? base : draft).graph.steps.map(({ id }) => id);
  const known = new Set(order);
  const other = (isReordered(base, draft) ? draft : base).graph.steps;
  let previous: string | undefined;
  for (const { id } of other) {
    if (!known.has(id)) order.splice(previous === undefined ? 0 : order.indexOf(previous) + 1, 0, id);
    previous = id;
  }
  return inOrder(steps, order);
}
