import type {
  Draft,
  DraftDiff,
  FieldChange,
  Graph,
  Json,
  Step,
  StepChange,
} from '../../../server/domains/workflows/edits/index.ts';
import { stepsOfLoop } from '../../graph/loop-steps.ts';

export type LineChange = { kind: 'removed' | 'added'; at: number; text: string };

/** The state before the first version. */
export const NO_DRAFT: Draft = { name: '', description: '', graph: { steps: [] }, run_setup: {} };

/** Returns a version as a state to compare. A version has no name and description. */
export function stateOf({ graph_snapshot: graph, run_setup }: { graph_snapshot: unknown; run_setup: unknown }): Draft {
  return { ...NO_DRAFT, graph, run_setup } as Draft;
}

/** Returns a value as text that can be compared line by line; an absent value is empty. */
export function valueText(value: Json | undefined): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** Returns the lines between the common beginning and end of two texts: the removed lines, then the added lines, with their numbers. */
export function changedLines(before: string, after: string): LineChange[] {
  const [a, b] = [before === '' ? [] : before.split('\n'), after === '' ? [] : after.split('\n')];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const lines = (all: string[], kind: LineChange['kind']) =>
    all.slice(start, all.length - end).map((text, n): LineChange => ({ kind, at: start + n + 1, text }));
  return [...lines(a, 'removed'), ...lines(b, 'added')];
}

/** Returns the changes of steps without their places on the canvas, and the number of steps that only moved. */
export function withoutMoves(steps: DraftDiff['steps']): { steps: StepChange[]; moved: number } {
  let moved = 0;
  const others = steps.flatMap((change): StepChange[] => {
    if (change.change !== 'changed') return [change];
    const fields = change.fields.filter(({ field }) => field !== 'position');
    if (fields.length < change.fields.length) moved += 1;
    return fields.length === 0 ? [] : [{ ...change, fields }];
  });
  return { steps: others, moved };
}

/** Returns the fields of an added or removed step, each as a change. */
export function fieldsOfStep(change: Exclude<StepChange, { change: 'changed' }>): FieldChange[] {
  const isAdded = change.change === 'added';
  const fields = Object.entries(isAdded ? change.after : change.before);
  return fields
    .filter(([field]) => field !== 'id' && field !== 'position')
    .map(([field, value]) => (isAdded ? { field, after: value } : { field, before: value }));
}

/** Returns the steps of both graphs, so that removed steps can be drawn beside the present steps, in loops too. */
export function stepsOfBoth(before: Pick<Graph, 'steps'>, after: Pick<Graph, 'steps'>): Step[] {
  const [old, ids] = [new Map(before.steps.map(step => [step.id, step])), new Set(after.steps.map(({ id }) => id))];
  const present = after.steps.map(step => {
    const [now, then] = [stepsOfLoop(step), stepsOfLoop(old.get(step.id) ?? step)];
    return now === null || then === null ? step : { ...step, steps: stepsOfBoth({ steps: then }, { steps: now }) };
  });
  return [...present, ...before.steps.filter(({ id }) => !ids.has(id))];
}
