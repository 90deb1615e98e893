import type { StepChange } from '../../../server/domains/workflows/edits/index.ts';
import { type GraphStepInput, nodeSize, ownPosition, type Point, ROW_GAP } from '../../graph/layout.ts';
import { withoutMoves } from '../changes/describe-changes.ts';

/** The change that a proposal makes to a step. */
export type Mark = StepChange['change'];
export type Ghosts = { steps: readonly GraphStepInput[]; marks: ReadonlyMap<string, Mark> };

/** The gap between two steps in a row. */
const COLUMN_GAP = 32;

/**
 * Returns the steps of the current draft with the changes of a proposal, and a mark for each changed step. Later changes of the draft are
 * kept.
 */
export function ghostsOf(present: readonly GraphStepInput[], changes: readonly StepChange[]): Ghosts {
  const steps = new Map(present.map(step => [step.id, step]));
  const marks = new Map<string, Mark>();
  for (const change of withoutMoves([...changes]).steps) {
    const now = steps.get(change.step);
    switch (change.change) {
      case 'added':
        marks.set(change.step, now === undefined ? 'added' : 'changed');
        steps.set(change.step, now ?? change.after);
        break;
      case 'removed':
        if (now !== undefined) marks.set(change.step, 'removed');
        break;
      case 'changed': {
        if (now === undefined) break;
        marks.set(change.step, 'changed');
        const fields = change.fields.map(({ field, after }) => [field, after] as const);
        steps.set(change.step, { ...now, ...Object.fromEntries(fields) });
      }
    }
  }
  return { steps: placeNewSteps(present, [...steps.values()]), marks };
}

/**
 * Places new steps below their dependencies if all other steps have positions. Otherwise the layout would move the
 * other steps.
 */
function placeNewSteps(
  present: readonly GraphStepInput[],
  steps: readonly GraphStepInput[],
): readonly GraphStepInput[] {
  const places = new Map<string, Point>();
  for (const step of present) {
    const place = ownPosition(step);
    if (place === null) return steps;
    places.set(step.id, place);
  }
  if (places.size === 0) return steps;
  const lowest = Math.max(...[...places.values()].map(({ y }) => y));
  const rest = [...places.values()].find(({ y }) => y === lowest) ?? { x: 0, y: lowest };
  return steps.map(step => {
    const own = places.get(step.id) ?? ownPosition(step);
    const above = Array.isArray(step.depends_on) ? step.depends_on.map(id => places.get(id)).find(Boolean) : undefined;
    const position = own ?? nearestFree(below(above ?? rest), [...places.values()]);
    places.set(step.id, position);
    return own === null ? { ...step, position } : step;
  });
}

const below = ({ x, y }: Point): Point => ({ x, y: y + nodeSize.height + ROW_GAP });

/** Returns the nearest free place to the right. */
function nearestFree(at: Point, taken: readonly Point[]): Point {
  const covered = taken.find(({ x, y }) => Math.abs(x - at.x) < nodeSize.width && Math.abs(y - at.y) < nodeSize.height);
  return covered === undefined ? at : nearestFree({ x: covered.x + nodeSize.width + COLUMN_GAP, y: at.y }, taken);
}
