import { isObject } from '@/server/platform/json.ts';
import type { Step } from '../../../server/domains/workflows/edits/index.ts';
import { edgesOf, type GraphStepInput } from '../../graph/layout.ts';
import { stepsBefore } from '../trial/step-test-data.ts';

/** The steps and loops whose values the code of a step can read. */
export type Readable = {
  /** The steps that run before the step, nearest first. */
  before: readonly Step[];
  /** The loops around the step, outermost first. */
  loops: readonly Step[];
};

/** Returns the steps inside a loop, or an empty list for a step that is no loop. */
export function innerSteps({ type, steps }: Step): Step[] {
  if (type !== 'for_each' || !Array.isArray(steps)) return [];
  return steps.filter((each): each is Step & typeof each => {
    return isObject(each) && typeof each.id === 'string' && typeof each.type === 'string';
  });
}

/**
 * Returns what the code of a step can read. `path` holds the ids of the loops around the step, outermost first, and then the id of
 * the step. A step that the graph does not contain yet has no steps before it.
 */
export function readableAt(steps: readonly Step[], path: readonly string[]): Readable {
  const before: Step[] = [];
  const loops: Step[] = [];
  let level: readonly Step[] = steps;
  for (const [depth, id] of path.entries()) {
    const inOrder = stepsBefore(edgesOf(level as readonly GraphStepInput[]), id);
    before.unshift(...inOrder.flatMap(each => level.find(step => step.id === each) ?? []));
    const step = level.find(each => each.id === id);
    if (step?.type !== 'for_each' || depth === path.length - 1) break;
    loops.push(step);
    level = innerSteps(step);
  }
  return { before, loops };
}
