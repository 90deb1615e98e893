import {
  type DraftDiff,
  diff,
  type Json,
  type Step,
  type StepChange,
} from '../../../server/domains/workflows/edits/index.ts';
import { nodeIn } from '../../graph/levels.ts';
import { stepsOfLoop } from '../../graph/loop-steps.ts';
import { NO_DRAFT } from './describe-changes.ts';

/** The changes of steps at any depth. The ids of the loops around a step are before its own: `each.pay`. */
type Within = Pick<DraftDiff, 'steps' | 'reordered'>;

/**
 * Returns the changes with those of the steps in loops: a loop is changed only if its own settings are, and the steps in it follow it. The
 * steps of an added or removed loop are added or removed with it.
 */
export function withInnerSteps(changes: DraftDiff): DraftDiff {
  const { steps, reordered } = within(changes.steps, '');
  return { ...changes, steps, reordered: changes.reordered || reordered };
}

function within(changes: readonly StepChange[], level: string): Within {
  const steps: StepChange[] = [];
  let reordered = false;
  for (const change of changes) {
    const node = nodeIn(level, change.step);
    const { own, inner } = divided(change);
    if (own !== null) steps.push({ ...own, step: node });
    if (inner === null) continue;
    const found = within(inner.steps, node);
    steps.push(...found.steps);
    reordered ||= inner.reordered || found.reordered;
  }
  return { steps, reordered };
}

/** Divides the change of a loop into that of its settings and those of its steps. `own`: null if its settings did not change. */
function divided(change: StepChange): { own: StepChange | null; inner: Within | null } {
  if (change.change === 'added') {
    const inner = stepsOfLoop(change.after);
    return inner === null
      ? whole(change)
      : { own: { ...change, after: withoutSteps(change.after) }, inner: between([], inner) };
  }
  if (change.change === 'removed') {
    const inner = stepsOfLoop(change.before);
    return inner === null
      ? whole(change)
      : { own: { ...change, before: withoutSteps(change.before) }, inner: between(inner, []) };
  }
  const list = change.fields.find(({ field }) => field === 'steps');
  // If a step became a loop or was one, its type changed: the change of the step includes its inner steps.
  if (list === undefined || change.fields.some(({ field }) => field === 'type')) return whole(change);
  const [before, after] = [stepsIn(list.before), stepsIn(list.after)];
  if (before === null || after === null) return whole(change);
  const fields = change.fields.filter(field => field !== list);
  return { own: fields.length === 0 ? null : { ...change, fields }, inner: between(before, after) };
}

const whole = (own: StepChange) => ({ own, inner: null });

const between = (before: readonly Step[], after: readonly Step[]): Within =>
  diff({ ...NO_DRAFT, graph: { steps: before } }, { ...NO_DRAFT, graph: { steps: after } });

/** Returns the steps of a loop; null if they cannot be compared one by one: a draft may hold anything there. */
const stepsIn = (steps: Json | undefined): readonly Step[] | null =>
  stepsOfLoop<Step>({ id: '', type: 'for_each', steps: steps ?? [] });

function withoutSteps({ steps, ...step }: Step): Step {
  return step as Step;
}

/** How the graph of a comparison marks a step. `contains_changes`: only steps in the loop changed. */
export type ChangeMark = StepChange['change'] | 'contains_changes';

/** Returns the marks of the changed steps by their nodes, and those of the loops around them. */
export function changeMarks(steps: readonly StepChange[]): ReadonlyMap<string, ChangeMark> {
  const marks = new Map<string, ChangeMark>(steps.map(({ step, change }) => [step, change]));
  for (const { step } of steps)
    for (let dot = step.lastIndexOf('.'); dot > 0; dot = step.lastIndexOf('.', dot - 1)) {
      const loop = step.slice(0, dot);
      if (!marks.has(loop)) marks.set(loop, 'contains_changes');
    }
  return marks;
}

/** Returns the name of a step that loops contain, with the names of the loops before it: "Each order › Pay". */
export function nameWithLoops(node: string, called: (id: string) => string): string {
  const path = node.split('.');
  return path
    .map((id, at) => {
      const own = path.slice(0, at + 1).join('.');
      const name = called(own);
      return name === own ? id : name;
    })
    .join(' › ');
}
