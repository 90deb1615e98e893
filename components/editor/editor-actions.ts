import { stepPreview } from '@/server/orchestrator/steps/step-previews.ts';
import { parseJson } from '@/server/platform/json-text.ts';
import {
  apply,
  type Branch,
  type Draft,
  type Edit,
  idsInLoop,
  type Json,
  STEP_ID,
  type Step,
} from '../../server/domains/workflows/edits/index.ts';
import {
  branchesOf,
  edgesOf,
  type GraphStepInput,
  nodeSize,
  ownPosition,
  type Point,
  ROW_GAP,
} from '../graph/layout.ts';

/** The place of a new step in the graph. */
export type Place =
  | { kind: 'free'; position?: Point }
  | { kind: 'after'; step: string; branch?: Branch }
  | { kind: 'between'; from: string; to: string };
/** A step to add: its type, and initial fields besides the defaults of the type. */
export type NewStep = { type: string; fields?: Readonly<Record<string, Json>> | undefined };
/** The drawn position of each step. */
export type Places = ReadonlyMap<string, Point>;
/** A group of edits, and the ids of the steps that they add. */
export type Plan = { edits: Edit[]; added: string[] };

const GAP = { x: nodeSize.width + 32, y: nodeSize.height + ROW_GAP };

const idsOf = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((id): id is string => typeof id === 'string') : [];
/** Returns a draft's steps with the type that the layout expects. */
export const graphSteps = (draft: Draft) => draft.graph.steps as readonly GraphStepInput[];

/** Returns whether the steps have fixed positions; otherwise the layout places them. */
export function isPlaced(draft: Draft): boolean {
  const steps = graphSteps(draft);
  return steps.length > 0 && steps.every(step => ownPosition(step) !== null);
}

/** Returns an unused id: `base`, `base_2` and so on. */
export function freeId(taken: ReadonlySet<string>, base: string): string {
  const start = STEP_ID.test(base) ? base.slice(0, 58) : 'step';
  if (!taken.has(start)) return start;
  let n = 2;
  while (taken.has(`${start}_${n}`)) n += 1;
  return `${start}_${n}`;
}

const NO_IDS: readonly string[] = [];

/**
 * Returns the ids that a new step must not have: the ids of all steps, including steps in loops, and the reserved ids.
 */
const takenIds = (draft: Draft, reserved: readonly string[]): ReadonlySet<string> =>
  new Set([...draft.graph.steps.flatMap(step => [step.id, ...idsInLoop(step)]), ...reserved]);

/** Returns an unused id for a new step of a type. */
export const freeStepId = (draft: Draft, type: string, reserved = NO_IDS): string =>
  freeId(takenIds(draft, reserved), type);

/**
 * Plans a new step. `places`: the current positions of the steps. `reserved`: the ids that the new step must not have.
 */
export function planStep(draft: Draft, fresh: NewStep, place: Place, places: Places, reserved = NO_IDS): Plan {
  const { type, fields } = fresh;
  const id = freeId(takenIds(draft, reserved), type);
  const step: Step = { id, type, ...stepPreview(type).starter, ...fields };
  const added = [id];
  if (place.kind === 'between') {
    const edit: Edit = { type: 'insert_between', from: place.from, to: place.to, step };
    if (!isPlaced(draft)) return { edits: [edit], added };
    const position = places.get(place.to) ?? { x: 0, y: 0 };
    return { edits: [{ ...edit, step: { ...step, position } }, ...moveDown(draft, place.to, places)], added };
  }
  if (place.kind === 'after') {
    const at = draft.graph.steps.findIndex(each => each.id === place.step) + 1;
    const placed: Step = isPlaced(draft)
      ? { ...step, position: freePoint(places, below(places.get(place.step))) }
      : step;
    const edits: Edit[] = [{ type: 'add_step', step: placed, at }];
    return { edits: [...edits, { type: 'connect', from: place.step, to: id, branch: place.branch }], added };
  }
  const { position } = place;
  // Once the user has placed one step, the layout no longer moves the others.
  if (position !== undefined && draft.graph.steps.length > 0)
    return { edits: [...fixPositions(draft, places), { type: 'add_step', step: { ...step, position } }], added };
  if (!isPlaced(draft)) return { edits: [{ type: 'add_step', step }], added };
  const lowest = Math.max(...[...places.values()].map(({ y }) => y));
  const left = Math.min(...[...places.values()].map(({ x }) => x));
  const free = freePoint(places, { x: left, y: lowest + GAP.y });
  return { edits: [{ type: 'add_step', step: { ...step, position: free } }], added };
}

/** Returns the place of the next step after `id`: the branches of a condition are filled one after the other. */
export function placeAfter(draft: Draft, id: string): Place {
  const step = draft.graph.steps.find(each => each.id === id);
  if (step === undefined) return { kind: 'free' };
  const branches: readonly Branch[] = step.type === 'condition' && step.mode !== 'validate' ? ['then', 'else'] : [];
  const branch = branches.find(each => idsOf(step[each]).length === 0);
  return { kind: 'after', step: id, ...(branch === undefined ? {} : { branch }) };
}

const below = (point: Point | undefined): Point => ({ x: point?.x ?? 0, y: (point?.y ?? 0) + GAP.y });

/** Returns the point, or the next free point to the right of it if a step would overlap. */
function freePoint(places: Places, point: Point): Point {
  const isTaken = ({ x, y }: Point) =>
    [...places.values()].some(each => Math.abs(each.x - x) < GAP.x && Math.abs(each.y - y) < nodeSize.height + 12);
  let { x } = point;
  while (isTaken({ x, y: point.y })) x += GAP.x;
  return { x, y: point.y };
}

/** Moves a step and all steps after it down by one row. */
function moveDown(draft: Draft, from: string, places: Places): Edit[] {
  const edges = edgesOf(graphSteps(draft));
  const moved = new Set<string>();
  const open = [from];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (moved.has(id)) continue;
    moved.add(id);
    open.push(...edges.filter(edge => edge.from === id).map(edge => edge.to));
  }
  return [...moved].map(step => ({ type: 'move', step, position: below(places.get(step)) }));
}

/** Stores the drawn position of every step. */
function fixPositions(draft: Draft, places: Places): Edit[] {
  return graphSteps(draft)
    .filter(step => ownPosition(step) === null)
    .map(({ id }) => ({ type: 'move', step: id, position: places.get(id) ?? { x: 0, y: 0 } }));
}

/** Plans the new positions of dragged steps. */
export function planMoves(draft: Draft, moved: Places, places: Places): Edit[] {
  const moves = [...moved].map(([step, { x, y }]): Edit => {
    return { type: 'move', step, position: { x: Math.round(x), y: Math.round(y) } };
  });
  return [...fixPositions(draft, places), ...moves];
}

/** Removes all stored positions, so that the layout places the steps again. */
export const planLayout = (draft: Draft): Edit[] =>
  draft.graph.steps.filter(step => 'position' in step).map(({ id }) => ({ type: 'move', step: id, position: null }));

/** Plans the removal of steps. Each dependent of a removed step depends on that step's dependencies instead. */
export const planRemoval = (ids: readonly string[]): Edit[] =>
  ids.map(step => ({ type: 'remove_step', step, heal: true }));

/** Disables the steps, or enables them if all are disabled. */
export function planDisabling(draft: Draft, ids: readonly string[]): Edit[] {
  const steps = draft.graph.steps.filter(({ id }) => ids.includes(id));
  const all = steps.every(step => step.disabled === true);
  return steps.map(({ id }) =>
    all
      ? { type: 'update_step', step: id, unset: ['disabled'] }
      : { type: 'update_step', step: id, set: { disabled: true } },
  );
}

/** Moves a dependent of a condition into a branch; null: the dependent runs in both cases. */
export function planBranch(from: string, to: string, branch: Branch | null): Edit[] {
  return [
    { type: 'disconnect', from, to },
    { type: 'connect', from, to, ...(branch === null ? {} : { branch }) },
  ];
}

/** Returns steps as readable text that can be pasted into another workflow. */
export function copyText(draft: Draft, ids: readonly string[]): string {
  return JSON.stringify({ steps: draft.graph.steps.filter(({ id }) => ids.includes(id)) }, null, 2);
}

/** Returns the steps in a copied text or in any graph; null if there are none. */
export function pastedSteps(text: string): Step[] | null {
  try {
    const value: unknown = parseJson(text);
    const steps = typeof value === 'object' && value !== null && 'steps' in value ? value.steps : value;
    const list: unknown[] = Array.isArray(steps) ? steps : [steps];
    const isStep = (step: unknown): step is Step =>
      typeof step === 'object' &&
      step !== null &&
      'id' in step &&
      typeof step.id === 'string' &&
      'type' in step &&
      typeof step.type === 'string';
    return list.length > 0 && list.every(isStep) ? list : null;
  } catch {
    return null;
  }
}

/** Plans the addition of copied steps under free ids. References between the copied steps are renamed as well. */
export function planPaste(draft: Draft, copied: readonly Step[], reserved = NO_IDS): Plan {
  const unique = [...new Map(copied.map(step => [step.id, step])).values()];
  let pasted: Draft = { ...draft, graph: { steps: unique }, run_setup: {} };
  const taken = takenIds(draft, reserved);
  for (const { id } of unique) {
    if (!taken.has(id) && STEP_ID.test(id)) continue;
    const others = new Set([...taken, ...takenIds(pasted, NO_IDS)]);
    const renamed = apply(pasted, { type: 'rename_step', step: id, to: freeId(others, id.replace(/_\d+$/, '')) });
    if (renamed.ok) pasted = renamed.draft;
  }
  const pastedIds = new Set(pasted.graph.steps.map(({ id }) => id));
  const placed = isPlaced(draft) && isPlaced(pasted);
  const edits = pasted.graph.steps.map((step): Edit => {
    const { depends_on, then, else: otherwise, position, ...fields } = step;
    const lists = Object.entries({ depends_on, then, else: otherwise }).flatMap(([field, value]): [string, Json][] => {
      const ids = idsOf(value).filter(id => pastedIds.has(id));
      return ids.length === 0 ? [] : [[field, ids]];
    });
    const at = placed ? ownPosition(step as GraphStepInput) : null;
    const moved = at === null ? {} : { position: { x: at.x + 40, y: at.y + 40 } };
    return { type: 'add_step', step: { ...fields, ...Object.fromEntries(lists), ...moved } as Step };
  });
  return { edits, added: [...pastedIds] };
}

/** Plans copies of steps beside the originals. The copies run after the same steps and in the same branches. */
export function planDuplicate(draft: Draft, ids: readonly string[], reserved = NO_IDS): Plan {
  const steps = draft.graph.steps.filter(({ id }) => ids.includes(id));
  const plan = planPaste(draft, steps, reserved);
  const edges = edgesOf(graphSteps(draft));
  const outside = steps.flatMap(({ id }, at): Edit[] =>
    edges
      .filter(edge => edge.to === id && !ids.includes(edge.from))
      .flatMap(edge => {
        const connection = { type: 'connect' as const, from: edge.from, to: plan.added[at] ?? id };
        return branchesOf(edge).map(branch => ({ ...connection, ...(branch === null ? {} : { branch }) }));
      }),
  );
  return { edits: [...plan.edits, ...outside], added: plan.added };
}
