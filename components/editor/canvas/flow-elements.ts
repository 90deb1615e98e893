import { MarkerType } from '@xyflow/react';
import { summaryOf } from '../../../server/orchestrator/steps/summary.ts';
import {
  branchLabel,
  type GraphEdge,
  type GraphStepInput,
  innerStepsOf,
  nodeSize,
  type Point,
} from '../../graph/layout.ts';
import { nodeIn, placeOf } from '../../graph/levels.ts';
import type { Size } from '../../graph/notes.ts';
import { statusLook } from '../../ui/status-badge.tsx';
import type { EditorFlowEdge } from './editor-edge.tsx';
import type { EditorFlowNode } from './editor-node.tsx';
import { handlesAt, handlesOf } from './outlets.ts';

export type NodeState = {
  problems: number;
  selected: boolean;
  found: boolean;
  editable: boolean;
  /** The change of a proposal, or the status in a run, that is shown over the draft; null if there is none. */
  mark: string | null;
  /** The name of the workflow or the agent that the step refers to; null if unknown. */
  called: string | null;
  /** Whether the result of the step is pinned. */
  pinned: boolean;
  /** The size of a loop that is expanded on the canvas; null for a step that is drawn as a card. */
  size: Size | null;
};

/** Returns whether each step after this step belongs to one of its branches. */
export const hasBranches = (step: GraphStepInput & { mode?: unknown }): boolean =>
  step.type === 'condition' && step.mode !== 'validate';

/** Returns a step of a level as a React Flow node. `place` is relative to the loop around the step. */
export function toEditorNode(
  level: string,
  step: GraphStepInput,
  place: Point | undefined,
  state: NodeState,
): EditorFlowNode {
  const size = state.size ?? nodeSize;
  const title = (typeof step.name === 'string' && step.name) || step.id;
  const mark = state.mark === null ? null : statusLook('step', state.mark).label;
  return {
    id: nodeIn(level, step.id),
    type: state.size === null ? 'step' : 'loop',
    ...(level === '' ? {} : { parentId: level }),
    position: place ?? { x: 0, y: 0 },
    width: size.width,
    height: size.height,
    measured: size,
    handles: state.size === null ? handlesOf(hasBranches(step)) : handlesAt(size),
    // The space between the steps of an expanded loop acts as canvas, so it must not catch pointer events.
    ...(state.size === null ? {} : { style: { pointerEvents: 'none' } }),
    // Raises a selected step above its neighbors and their “+”. React Flow's own option would also raise selected notes over the steps
    // that they explain, and the connections in a loop over the “+” of the steps before it.
    zIndex: state.selected && level === '' ? 1_000 : 0,
    selected: state.selected,
    ariaLabel: `${title}${level === '' ? '' : `, in ${placeOf(level).step}`}${mark === null ? '' : `: ${mark}`}${state.pinned ? ': pinned result' : ''}${state.problems > 0 ? `: ${state.problems === 1 ? '1 problem' : `${state.problems} problems`}` : ''}`,
    data: {
      title,
      type: step.type,
      status: state.mark,
      statusLabel: mark,
      took: null,
      attempt: 0,
      problems: state.problems,
      disabled: step.disabled === true,
      gated: step.gated === true,
      pinned: state.pinned,
      summary: summaryOf(step, () => state.called ?? undefined),
      inner: innerStepsOf(step),
      step: step.id,
      loop: level,
      branches: hasBranches(step),
      found: state.found,
      editable: state.editable,
    },
  };
}

type EdgeState = {
  branches: boolean;
  selected: boolean;
  editable: boolean;
  ghost: boolean;
  /** Whether the run that is shown over the draft took the connection. */
  taken: boolean;
};

/** Returns a connection between steps of a level as a React Flow edge. */
export function toEditorEdge(level: string, edge: GraphEdge, state: EdgeState): EditorFlowEdge {
  const color = state.taken ? 'var(--ok)' : 'var(--line-strong)';
  return {
    id: nodeIn(level, edge.id),
    type: 'step',
    source: nodeIn(level, edge.from),
    target: nodeIn(level, edge.to),
    // A connection that both branches take leaves the step in the middle, like a connection without a branch.
    sourceHandle: state.branches && (edge.branch === 'then' || edge.branch === 'else') ? edge.branch : 'out',
    selected: state.selected,
    focusable: false,
    reconnectable: state.editable,
    style: { stroke: color, ...(state.ghost ? { strokeDasharray: '4 4' } : {}) },
    markerEnd: { type: MarkerType.ArrowClosed, width: 16, height: 16, color },
    data: { label: branchLabel(edge), editable: state.editable },
  };
}

export type Direction = 'up' | 'down' | 'left' | 'right';

/** Returns the nearest step in the direction of an arrow key. */
export function neighbor(places: ReadonlyMap<string, Point>, from: string, direction: Direction): string | null {
  const start = places.get(from);
  if (start === undefined) return null;
  const vertical = direction === 'up' || direction === 'down';
  const sign = direction === 'up' || direction === 'left' ? -1 : 1;
  let best: { id: string; distance: number } | null = null;
  for (const [id, { x, y }] of places) {
    const ahead = (vertical ? y - start.y : x - start.x) * sign;
    const aside = Math.abs(vertical ? x - start.x : y - start.y);
    // At least half a step away: steps in one row of a layout are not exactly level.
    if (id === from || ahead < nodeSize.height / 2) continue;
    const distance = ahead + 2 * aside;
    if (best === null || distance < best.distance) best = { id, distance };
  }
  return best?.id ?? null;
}
