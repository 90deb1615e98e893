import type { GraphStepInput } from '../graph/layout.ts';
import { nodeIn } from '../graph/levels.ts';
import { stepsOfLoop } from '../graph/loop-steps.ts';
import { stepTypeLook } from '../graph/step-icon.tsx';

/** A step found by the search: its node, and the names of the loops around it, the outermost first. */
export type FoundStep = { node: string; step: GraphStepInput; inside: readonly string[] };

export const nameOf = ({ id, name }: GraphStepInput): string => (typeof name === 'string' && name ? name : id);

/** Returns the steps whose id, name or type contains the text, at any depth. The steps of a loop follow the loop. */
export function findSteps(steps: readonly GraphStepInput[], text: string): FoundStep[] {
  const wanted = text.trim().toLowerCase();
  return wanted === '' ? [] : findIn('', [], steps, wanted);
}

function findIn(
  level: string,
  inside: readonly string[],
  steps: readonly GraphStepInput[],
  wanted: string,
): FoundStep[] {
  return steps.flatMap(step => {
    const { id, name, type } = step;
    const node = nodeIn(level, id);
    const isFound = [id, name, type, stepTypeLook(type).label].some(each =>
      String(each ?? '')
        .toLowerCase()
        .includes(wanted),
    );
    const inner = stepsOfLoop(step);
    return [
      ...(isFound ? [{ node, step, inside }] : []),
      ...(inner === null ? [] : findIn(node, [...inside, nameOf(step)], inner, wanted)),
    ];
  });
}

/** Returns the nodes to mark: the found steps, and for a step in a closed loop the outermost closed loop. */
export function markedNodes(found: readonly FoundStep[], isDrawn: (level: string) => boolean): ReadonlySet<string> {
  return new Set(
    found.map(({ node }) => {
      const names = node.split('.');
      const depth = names.findIndex((_, at) => at > 0 && !isDrawn(names.slice(0, at).join('.')));
      return depth < 0 ? node : names.slice(0, depth).join('.');
    }),
  );
}
