import { type NodeHandle, Position } from '@xyflow/react';
import type { Box } from '../../graph/containers.ts';
import { ROW_GAP } from '../../graph/layout.ts';
import { type Levels, nodeIn } from '../../graph/levels.ts';
import { START_NODE, START_SIZE, type StartFlowNode } from './start-node.tsx';

/** Above this number of first steps, lines to all of them would be unreadable. */
const MAX_LINES = 12;
/**
 * The maximum width of a row of first steps with the start centered above it. A wider graph opens at its first step,
 * with the start above that step.
 */
const MAX_ROW_WIDTH = 1_200;

const handles: NodeHandle[] = [
  {
    type: 'source',
    position: Position.Bottom,
    x: START_SIZE.width / 2 - 3,
    y: START_SIZE.height - 3,
    width: 6,
    height: 6,
  },
];

/** Returns the box of the start, centered above the first steps; null if there are no steps. */
export function startBox([root]: Levels, boxes: ReadonlyMap<string, Box>): Box | null {
  const first = firstSteps(root);
  const around = first.flatMap(id => boxes.get(id) ?? []);
  if (root === undefined || around.length === 0) return null;
  const top = Math.min(...[...root.drawn.values()].map(({ y }) => y));
  const left = Math.min(...around.map(({ x }) => x));
  const right = Math.max(...around.map(({ x, width }) => x + width));
  const [{ x, width } = { x: left, width: right - left }] = around;
  const middle = right - left > MAX_ROW_WIDTH ? x + width / 2 : (left + right) / 2;
  return { x: middle - START_SIZE.width / 2, y: top - ROW_GAP - START_SIZE.height + 12, ...START_SIZE };
}

/** Returns the steps of the canvas that depend on no other step. */
function firstSteps(root: Levels[number] | undefined): string[] {
  if (root === undefined) return [];
  const after = new Set(root.edges.map(({ to }) => to));
  return root.steps.filter(({ id }) => !after.has(id)).map(({ id }) => id);
}

/** Returns the start as a React Flow node. */
export const toStartNode = (box: Box, data: StartFlowNode['data']): StartFlowNode => ({
  id: START_NODE,
  type: 'start',
  position: { x: box.x, y: box.y },
  ...START_SIZE,
  measured: START_SIZE,
  handles,
  draggable: false,
  selectable: false,
  focusable: false,
  connectable: false,
  zIndex: -1,
  data,
});

/** Returns the lines from the start to the first steps. */
export function startLines([root]: Levels) {
  const first = firstSteps(root);
  if (first.length > MAX_LINES) return [];
  return first.map(id => ({
    id: `${START_NODE}${id}`,
    source: START_NODE,
    target: nodeIn('', id),
    type: 'default' as const,
    focusable: false,
    selectable: false,
    reconnectable: false,
    interactionWidth: 0,
    style: { stroke: 'var(--line-strong)', strokeDasharray: '2 4', pointerEvents: 'none' as const },
  }));
}
