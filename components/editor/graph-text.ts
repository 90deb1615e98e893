import { type Draft, identicalJson, type Json, type Step } from '../../server/domains/workflows/edits/index.ts';
import { parseJson } from '../../server/platform/json-text.ts';

export type DraftGraph = Draft['graph'];

/** Returns a graph as formatted JSON for editing. */
export const formatGraph = (graph: DraftGraph): string => `${JSON.stringify(graph, null, 2)}\n`;

/**
 * Parses a text as a graph, or returns the reason why it is not a graph. Only the shape is checked: a draft may be incomplete
 * (docs/specification/workflows.md#drafts).
 */
export function parseGraph(text: string): { graph: DraftGraph } | { problem: string } {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'This is not JSON.' };
  }
  const steps = typeof value === 'object' && value !== null && 'steps' in value ? value.steps : undefined;
  if (!Array.isArray(steps)) return { problem: 'A graph is an object with a list named "steps".' };
  const bad = steps.findIndex(step => typeof step?.id !== 'string' || typeof step?.type !== 'string');
  return bad < 0 ? { graph: value as DraftGraph } : { problem: `Step ${bad + 1} needs an "id" and a "type".` };
}

/**
 * Returns a copy of `next` that reuses the equal objects of `present`, so that an edit of the text changes only the steps and fields that
 * it touches, in the history and on the canvas.
 */
export function shareUnchanged(present: DraftGraph, next: DraftGraph): DraftGraph {
  const byId = new Map(present.steps.map(step => [step.id, step]));
  const steps = next.steps.map(step => {
    const before = byId.get(step.id);
    return before === undefined ? step : sharedStep(before, step);
  });
  const { steps: _, ...others } = next;
  const { steps: __, ...presentOthers } = present;
  const isSame = steps.length === present.steps.length && steps.every((step, at) => step === present.steps[at]);
  return isSame && identicalJson(others as Json, presentOthers as Json) ? present : { ...next, steps };
}

function sharedStep(before: Step, step: Step): Step {
  if (identicalJson(before, step)) return before;
  const entries = Object.entries(step).map(([field, value]): [string, Json] => {
    const was = Object.hasOwn(before, field) ? before[field] : undefined;
    return [field, was !== undefined && identicalJson(was, value) ? was : value];
  });
  return Object.fromEntries(entries) as Step;
}

/** Returns whether two steps of a graph have the same id, which a text may contain while it is being edited. */
export function hasDuplicateIds({ steps }: DraftGraph): boolean {
  return new Set(steps.map(({ id }) => id)).size < steps.length;
}
