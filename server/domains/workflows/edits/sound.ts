import { own, stepsById } from './diff.ts';
import {
  type Draft,
  type Fields,
  graphFields,
  idsIn,
  type Json,
  type Step,
  sameJson,
  withStepFields,
} from './draft.ts';
import type { Conflict, Side } from './merge.ts';
import { idsInLoop, readsInValue, readsStep } from './references.ts';

/** The parts of a merged draft. Its steps may still change. */
export type Merged = { steps: Map<string, Step>; graph: Fields; run_setup: Fields };
export type Sides = { base: Draft; ours: Draft; theirs: Draft };
type Decide = (conflict: Conflict) => Side | undefined;
type Steps = Readonly<Record<'base' | 'ours' | 'theirs', ReadonlyMap<string, Step>>>;

/**
 * Adds conflicts for changes of two sides that contradict each other: one side reads a step that the other removed or renamed, dependencies
 * form a cycle, a step is in both branches of a condition or in a branch that it left, or two steps share an id. An error that one side already
 * has is no conflict.
 */
export function makeSound(merged: Merged, sides: Sides, decide: Decide): void {
  const of: Steps = {
    base: stepsById(sides.base),
    ours: stepsById(sides.ours),
    theirs: stepsById(sides.theirs),
  };
  keepRead(merged, sides, of, decide);
  keepNamesApart(merged.steps, of, decide);
  keepBranches(merged.steps, of, decide);
  untangle(merged.steps, of, decide);
  keepOrder(merged.steps, of, decide);
}

/** Returns the values of a step or of a field on all sides. A side without a value is absent. */
function valuesOf(of: Steps, id: string, field: string | null): Pick<Conflict, 'base' | 'ours' | 'theirs'> {
  const valueOn = (side: keyof Steps) => {
    const step = of[side].get(id);
    return field === null || step === undefined ? step : own(step, field);
  };
  const values = (['base', 'ours', 'theirs'] as const).map(side => [side, valueOn(side)] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** Decides which side's value a field of a merged step gets. */
function settle(
  steps: Map<string, Step>,
  of: Steps,
  { step: id, field }: { step: string; field: string },
  decide: Decide,
): void {
  const side = decide({ step: id, field, ...valuesOf(of, id, field) });
  const [step, chosen] = [steps.get(id), side && of[side].get(id)];
  if (step === undefined || chosen === undefined) return;
  const value = own(chosen, field);
  steps.set(id, value === undefined ? withStepFields(step, {}, [field]) : withStepFields(step, { [field]: value }));
}

const idsOf = (step: Step | undefined, field: string): readonly string[] => idsIn(step && own(step, field));

/** Returns whether a step depends on another step, has it in a branch, or reads it. */
function refersTo(step: Step, id: string): boolean {
  return ['depends_on', 'then', 'else'].some(field => idsOf(step, field).includes(id)) || readsStep(step, id);
}

/** Finds references of one side to a step that the other side removed or renamed. */
function keepRead(merged: Merged, sides: Sides, of: Steps, decide: Decide): void {
  const asked = new Set<string>();
  for (let isKept = true; isKept; ) {
    isKept = false;
    for (const id of new Set([...of.base.keys(), ...of.ours.keys(), ...of.theirs.keys()])) {
      if (merged.steps.has(id) || asked.has(id) || of.ours.has(id) === of.theirs.has(id)) continue;
      if (!isReadByOther(id, merged, of.ours.has(id) ? sides.theirs : sides.ours)) continue;
      asked.add(id);
      const side = decide({ step: id, field: null, ...valuesOf(of, id, null) });
      const kept = side && of[side].get(id);
      if (kept === undefined) continue;
      merged.steps.set(id, kept);
      // The restored step may refer to further steps.
      isKept = true;
    }
  }
}

/** Returns whether the merged draft has a reference to a step that the removing side lacks. */
function isReadByOther(id: string, merged: Merged, remover: Draft): boolean {
  const known = stepsById(remover);
  for (const step of merged.steps.values()) {
    const same = known.get(step.id);
    if (same !== undefined && (same === step || sameJson(same, step))) continue;
    if (refersTo(step, id) && !(same !== undefined && refersTo(same, id))) return true;
  }
  const isRead = (value: Json | undefined) => value !== undefined && readsInValue(value, id);
  const fields = graphFields(remover.graph);
  const isInGraph = ['output', 'searchable'].some(
    name => isRead(own(merged.graph, name)) && !isRead(own(fields, name)),
  );
  return isInGraph || (isOverridden(merged.run_setup, id) && !isOverridden(remover.run_setup, id));
}

/** Returns whether the run setup has fields for a step, or reads it in fields of another step. */
function isOverridden(setup: Fields, id: string): boolean {
  const overrides = own(setup, 'trigger_steps');
  if (typeof overrides !== 'object' || overrides === null || Array.isArray(overrides)) return false;
  return Object.hasOwn(overrides, id) || readsInValue(overrides, id);
}

/** Finds a new step of one side with the id of a step in a loop of the other side, which makes references ambiguous. */
function keepNamesApart(steps: Map<string, Step>, of: Steps, decide: Decide): void {
  for (const loop of [...steps.values()]) {
    for (const id of idsInLoop(loop)) {
      const isOn = (side: ReadonlyMap<string, Step>) => {
        const same = side.get(loop.id);
        return side.has(id) && same !== undefined && idsInLoop(same).has(id);
      };
      if (!steps.has(id) || isOn(of.ours) || isOn(of.theirs)) continue;
      const side = decide({ step: id, field: null, ...valuesOf(of, id, null) });
      if (side !== undefined && !of[side].has(id)) steps.delete(id);
    }
  }
}

/** Finds steps that the two sides put into different branches, or that only one side disconnected from the condition. */
function keepBranches(steps: Map<string, Step>, of: Steps, decide: Decide): void {
  for (const { id } of [...steps.values()]) {
    const inBoth = (step: Step | undefined) => idsOf(step, 'then').filter(each => idsOf(step, 'else').includes(each));
    const known = new Set([...inBoth(of.ours.get(id)), ...inBoth(of.theirs.get(id))]);
    if (inBoth(steps.get(id)).some(each => !known.has(each)))
      for (const field of ['then', 'else']) settle(steps, of, { step: id, field }, decide);
    for (const member of new Set([...idsOf(steps.get(id), 'then'), ...idsOf(steps.get(id), 'else')])) {
      if (!isLoose(steps, id, member) || isLoose(of.ours, id, member) || isLoose(of.theirs, id, member)) continue;
      settle(steps, of, { step: member, field: 'depends_on' }, decide);
    }
  }
}

/** Returns whether a branch has a step that does not depend on the condition. */
function isLoose(steps: ReadonlyMap<string, Step>, condition: string, member: string): boolean {
  const step = steps.get(condition);
  const named = idsOf(step, 'then').includes(member) || idsOf(step, 'else').includes(member);
  return named && steps.has(member) && !idsOf(steps.get(member), 'depends_on').includes(condition);
}

/** Finds cycles that only the dependencies of both sides together form. */
function untangle(steps: Map<string, Step>, of: Steps, decide: Decide): void {
  const asked = new Set<string>();
  for (;;) {
    const knot = knotIn(steps);
    if (isKnotOf(of.ours, knot, steps) || isKnotOf(of.theirs, knot, steps)) return;
    const tied = [...knot].filter(id => {
      const [left, right] = [of.ours.get(id), of.theirs.get(id)];
      return !asked.has(id) && !sameJson(left && own(left, 'depends_on'), right && own(right, 'depends_on'));
    });
    if (tied.length === 0) return;
    for (const step of tied) {
      asked.add(step);
      settle(steps, of, { step, field: 'depends_on' }, decide);
    }
  }
}

/** Finds a removed connection that a reference of the other side needs. */
function keepOrder(steps: Map<string, Step>, of: Steps, decide: Decide): void {
  const asked = new Set<string>();
  for (const side of [of.ours, of.theirs]) {
    if (!isCut(side, steps)) continue;
    for (const id of [...steps.keys()]) {
      const known = side.get(id);
      if (known === undefined) continue;
      const before = ancestorsOf(steps, id);
      const lost = [...ancestorsOf(side, id).keys()].filter(each => steps.has(each) && !before.has(each));
      for (const read of lost) {
        if (!readsStep(steps.get(id) ?? known, read) || isOutOfOrder(of, id, read)) continue;
        for (const step of lostOn(ancestorsOf(side, id), read, { from: id, steps })) {
          if (asked.has(step)) continue;
          asked.add(step);
          settle(steps, of, { step, field: 'depends_on' }, decide);
        }
      }
    }
  }
}

/** Returns whether the merged draft has both steps of a side's connection but not the connection. */
function isCut(side: ReadonlyMap<string, Step>, steps: ReadonlyMap<string, Step>): boolean {
  return [...side.values()].some(step => {
    const kept = idsOf(steps.get(step.id), 'depends_on');
    return steps.has(step.id) && idsOf(step, 'depends_on').some(id => !kept.includes(id));
  });
}

/** Returns whether a side itself has a step that reads a step which is not before it. */
function isOutOfOrder({ ours, theirs }: Steps, id: string, read: string): boolean {
  return [ours, theirs].some(side => {
    const step = side.get(id);
    return step !== undefined && side.has(read) && readsStep(step, read) && !ancestorsOf(side, id).has(read);
  });
}

/** Returns the steps before a step, each with the next step on the path. */
function ancestorsOf(steps: ReadonlyMap<string, Step>, id: string): Map<string, string> {
  const found = new Map<string, string>();
  const open = [id];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const before of idsOf(steps.get(next), 'depends_on')) {
      if (found.has(before) || !steps.has(before)) continue;
      found.set(before, next);
      open.push(before);
    }
  }
  return found;
}

/** Returns the steps of a path whose connection the merged draft lacks. */
function lostOn(
  path: ReadonlyMap<string, string>,
  read: string,
  { from, steps }: { from: string; steps: ReadonlyMap<string, Step> },
): string[] {
  const lost: string[] = [];
  for (let before = read; before !== from; ) {
    const after = path.get(before);
    if (after === undefined) break;
    if (steps.has(after) && !idsOf(steps.get(after), 'depends_on').includes(before)) lost.push(after);
    before = after;
  }
  return lost;
}

/** Returns the steps on cycles and between cycles; none in a graph without cycles. */
function knotIn(steps: ReadonlyMap<string, Step>): ReadonlySet<string> {
  let open = new Map([...steps].map(([id, step]) => [id, idsOf(step, 'depends_on').filter(each => steps.has(each))]));
  for (;;) {
    const before = new Set([...open.values()].flat());
    const kept = [...open].filter(([id, ids]) => before.has(id) && ids.some(each => open.has(each)));
    if (kept.length === open.size) return new Set(open.keys());
    open = new Map(kept);
  }
}

/** Returns whether one side alone has all dependencies of the cycle, so that it is no conflict; true if there are none. */
function isKnotOf(
  side: ReadonlyMap<string, Step>,
  knot: ReadonlySet<string>,
  steps: ReadonlyMap<string, Step>,
): boolean {
  return [...knot].every(id => {
    const known = idsOf(side.get(id), 'depends_on');
    return idsOf(steps.get(id), 'depends_on').every(each => !knot.has(each) || known.includes(each));
  });
}
