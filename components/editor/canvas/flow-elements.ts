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
  /** The change that a proposal shown over the draft makes to the step, or its status in a run shown over it; null: none. */
  mark: string | null;
  /** The name of the workflow or the agent that the step names; null where it is not known. */
  called: string | null;
  /** Whether its result is pinned. */
  pinned: boolean;
  /** The size of a loop that is open on the canvas; null: the step is drawn as a card. */
  size: Size | null;
};

/** Whether what comes after a step belongs to one of its branches. */
export const hasBranches = (step: GraphStepInput & { mode?: unknown }): boolean =>
  step.type === 'condition' && step.mode !== 'validate';

/** Returns a step of a level as React Flow draws it; `place` is within the loop around it. */
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
    // Between its steps an open loop is the canvas, which is moved and clicked there.
    ...(state.size === null ? {} : { style: { pointerEvents: 'none' } }),
    // Above its neighbours and their “+”. React Flow would raise selected notes as well, over the steps that they explain.
    // In a loop, its connections would be raised over the “+” of the steps before it.
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
  /** A run shown over the draft took it. */
  taken: boolean;
};

/** Returns a connection between steps of a level as React Flow draws it. */
export function toEditorEdge(level: string, edge: GraphEdge, state: EdgeState): EditorFlowEdge {
  const color = state.taken ? 'var(--ok)' : 'var(--line-strong)';
  return {
    id: nodeIn(level, edge.id),
    type: 'step',
    source: nodeIn(level, edge.from),
    target: nodeIn(level, edge.to),
    // What both branches take leaves the step in the middle, as what neither names.
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

/** Returns the step that an arrow key leads to: the nearest one in its direction. */
export function neighbour(places: ReadonlyMap<string, Point>, from: string, direction: Direction): string | null {
  const start = places.get(from);
  if (start === undefined) return null;
  const vertical = direction === 'up' || direction === 'down';
  const sign = direction === 'up' || direction === 'left' ? -1 : 1;
  let best: { id: string; distance: number } | null = null;
  for (const [id, { x, y }] of places) {
    const ahead = (vertical ? y - start.y : x - start.x) * sign;
    const aside = Math.abs(vertical ? x - start.x : y - start.y);
    // Half a step at least: rows of a layout are not exactly level.
    if (id === from || ahead < nodeSize.height / 2) continue;
    const distance = ahead + 2 * aside;
    if (best === null || distance < best.distance) best = { id, distance };
  }
  return best?.id ?? null;
}
