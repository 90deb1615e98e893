import { type Edge, MarkerType, type NodeHandle, Position } from '@xyflow/react';
import { summaryOf } from '@/server/orchestrator/steps/summary.ts';
import { branchLabel, type GraphEdge, type GraphStepInput, innerStepsOf, nodeSize, type Point } from './layout.ts';
import { nodeIn } from './levels.ts';
import type { Size } from './notes.ts';
import type { PlainStepNode } from './plain-step.tsx';
import type { CalledNames } from './use-called-names.ts';

/** The displayed state of a step in a run. */
export type StepDisplay = {
  status: string;
  label: string;
  /** The duration, which is also at the end of `label`. */
  took?: string | undefined;
  attempt: number;
  /** Whether the step was executed, so that the edge to it is drawn as taken. */
  began?: boolean;
  /** Replaces the step's own name if that has templates: the question to the person. */
  title?: string | undefined;
  /** Whether the step differs in the compared run. */
  differs?: boolean;
};
/** By node: the id of a step in a loop is preceded by the ids of its loops (levels.ts). */
export type StepDisplays = ReadonlyMap<string, StepDisplay>;

/**
 * The ends of edges, where a node draws its handles. React Flow draws every node once to measure what it is not told: 2,000 of them before
 * the first is seen.
 */
const handlesOf = ({ width, height }: Size): NodeHandle[] => [
  { type: 'target', position: Position.Top, x: width / 2 - 3, y: -3, width: 6, height: 6 },
  { type: 'source', position: Position.Bottom, x: width / 2 - 3, y: height - 3, width: 6, height: 6 },
];
const stepHandles = handlesOf(nodeSize);

type NodeLook = {
  display: StepDisplay | undefined;
  problems: number | undefined;
  selected: string | null;
  names: CalledNames;
  /** The size of an open loop; undefined if the step is drawn as a card. */
  size: Size | undefined;
};

/** Returns the React Flow node for a step of a level; `place` is relative to its loop. */
export function toPlainStep(
  level: string,
  step: GraphStepInput,
  place: Point | undefined,
  { display, problems, selected, names, size }: NodeLook,
): PlainStepNode {
  const title = display?.title || step.name || step.id;
  const id = nodeIn(level, step.id);
  return {
    id,
    type: size === undefined ? 'step' : 'loop',
    ...(level === '' ? {} : { parentId: level }),
    position: place ?? { x: 0, y: 0 },
    ...(size ?? nodeSize),
    measured: size ?? nodeSize,
    handles: size === undefined ? stepHandles : handlesOf(size),
    // Between its steps, an open loop behaves like the canvas, which can be moved and clicked there.
    ...(size === undefined ? {} : { style: { pointerEvents: 'none' } }),
    selected: id === selected,
    ariaLabel: `${title}${level === '' ? '' : `, in ${level.slice(level.lastIndexOf('.') + 1)}`}${display ? `: ${display.label}` : ''}${display?.differs ? ', differs' : ''}`,
    data: {
      title,
      type: step.type,
      status: display?.status ?? null,
      statusLabel: display?.label ?? null,
      took: display?.took ?? null,
      attempt: display?.attempt ?? 0,
      differs: display?.differs === true,
      problems: problems ?? 0,
      disabled: step.disabled === true,
      gated: step.gated === true,
      summary: summaryOf(step, id => names.get(id)),
      inner: innerStepsOf(step),
      step: step.id,
    },
  };
}

/** The colors of taken edges, by the status of the step at their end. */
const taken: Record<string, string> = { failed: 'var(--bad)', running: 'var(--info)', waiting: 'var(--warn)' };

/** Returns the React Flow edge for a connection between steps of a level, which shows whether a run took it. */
export function toPlainEdge(level: string, edge: GraphEdge, displays: StepDisplays | undefined): Edge {
  const [source, target] = [nodeIn(level, edge.from), nodeIn(level, edge.to)];
  const from = displays?.get(source);
  const to = displays?.get(target);
  const reached = to?.status;
  const isTaken = to?.began === true && (from?.began === true || from?.status === 'reused');
  const color = isTaken ? (taken[reached ?? ''] ?? 'var(--ok)') : 'var(--line-strong)';
  return {
    id: nodeIn(level, edge.id),
    source,
    target,
    focusable: false,
    label: branchLabel(edge),
    animated: reached === 'running',
    style: {
      stroke: color,
      ...(isTaken ? { strokeWidth: 2 } : {}),
      ...(reached === 'skipped' ? { strokeDasharray: '4 4', opacity: 0.6 } : {}),
    },
    // Markers grow with the width of their edge.
    markerEnd: { type: MarkerType.ArrowClosed, width: isTaken ? 9 : 16, height: isTaken ? 9 : 16, color },
  };
}

/** Returns the node that represents a selected one: itself, or the closed loop around it. */
export function shownNode(nodes: { has: (node: string) => boolean }, selected: string | null): string | null {
  let node = selected ?? '';
  while (node !== '' && !nodes.has(node)) node = node.slice(0, Math.max(0, node.lastIndexOf('.')));
  return node === '' ? null : node;
}
