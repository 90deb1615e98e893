'use client';
import '@xyflow/react/dist/style.css';
import {
  Background,
  BackgroundVariant,
  Controls,
  type Edge,
  MarkerType,
  type NodeHandle,
  Position,
  ReactFlow,
  ReactFlowProvider,
} from '@xyflow/react';
import { useTheme } from 'next-themes';
import { type CSSProperties, type RefObject, useId, useMemo, useRef } from 'react';
import { summaryOf } from '@/server/orchestrator/steps/summary.ts';
import { Skeleton } from '../ui/skeleton.tsx';
import { useDetailLevel } from './detail-level.ts';
import { firstView, ICONS_ZOOM, LEGIBLE_ZOOM, MARGIN } from './first-view.ts';
import { GraphMap } from './graph-map.tsx';
import {
  branchLabel,
  edgesOf,
  type GraphEdge,
  type GraphStepInput,
  innerStepsOf,
  nodeSize,
  type Point,
} from './layout.ts';
import { drawnNotes } from './notes.ts';
import { PlainNote, type PlainNoteNode, toPlainNote } from './plain-note.tsx';
import { type StepFlowNode, StepNode } from './step-node.tsx';
import { type CalledNames, useCalledNames } from './use-called-names.ts';
import { type LaidOut, useLaidOut } from './use-laid-out.ts';
import { useWheel } from './use-wheel.ts';

const nodeTypes = { step: StepNode, note: PlainNote };

/**
 * The positions of a node's handles. Without them, React Flow would draw every node once to measure it, which delays a graph of 2,000
 * steps.
 */
const handles: NodeHandle[] = [
  { type: 'target', position: Position.Top, x: nodeSize.width / 2 - 3, y: -3, width: 6, height: 6 },
  { type: 'source', position: Position.Bottom, x: nodeSize.width / 2 - 3, y: nodeSize.height - 3, width: 6, height: 6 },
];
/** On a phone the whole graph is shown as icons, because few names would fit. The list below has the names. */
const PHONE_WIDTH = 640;
/** The number of steps from which a map is worth its space. */
export const MIN_STEPS_FOR_MAP = 24;

/** React Flow's own parts, in our colours. */
export const flowTheme = {
  '--xy-background-color': 'var(--sunken)',
  '--xy-controls-button-background-color': 'var(--surface)',
  '--xy-controls-button-background-color-hover': 'var(--hover)',
  '--xy-controls-button-color': 'var(--text)',
  '--xy-controls-button-border-color': 'var(--line)',
  '--xy-edge-label-background-color': 'var(--sunken)',
  '--xy-edge-label-color': 'var(--muted)',
} as CSSProperties;

/** The state of a step of a run. */
export type StepDisplay = {
  status: string;
  label: string;
  /** The duration of the step. `label` ends with it too. */
  took?: string | undefined;
  attempt: number;
  /** Whether the step was executed, so that the way to it is drawn as taken. */
  began?: boolean;
  /** The rendered name of the task. It replaces a step name with templates. */
  title?: string | undefined;
};

export type WorkflowGraphProps = {
  steps: readonly GraphStepInput[];
  /** The notes of the graph. Invalid notes are left out. */
  notes?: unknown;
  /** The states by step id; absent for a draft, which has none. */
  displays?: ReadonlyMap<string, StepDisplay>;
  /** The number of validation problems by step id. */
  problems?: ReadonlyMap<string, number>;
  selected?: string | null;
  onSelect?: (step: string | null) => void;
  label: string;
};

/** A read-only graph of steps, with the same nodes as the editor. */
export function WorkflowGraph(props: WorkflowGraphProps) {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  );
}

function Flow(props: WorkflowGraphProps) {
  const { steps, label } = props;
  const detail = useDetailLevel();
  const frame = useRef<HTMLElement>(null);
  const unique = useMemo(() => [...new Map(steps.map(step => [step.id, step])).values()], [steps]);
  const edges = useMemo(() => edgesOf(unique), [unique]);
  const graph = useLaidOut(unique, edges);
  return (
    <section
      ref={frame}
      aria-label={label}
      data-detail={detail}
      className="group/graph h-full min-h-80 w-full overflow-hidden rounded-lg border bg-sunken"
    >
      {graph === null ? <Skeleton className="h-full w-full" /> : <Drawing {...props} graph={graph} frame={frame} />}
    </section>
  );
}

type DrawingProps = WorkflowGraphProps & { graph: LaidOut; frame: RefObject<HTMLElement | null> };

function Drawing({ graph, frame, notes, displays, problems, selected = null, onSelect }: DrawingProps) {
  const { steps, places } = graph;
  const { resolvedTheme } = useTheme();
  const flowId = useId();
  const wheel = useWheel(frame);
  const { nodes, noteNodes } = useNodes({ notes, displays, problems, selected }, steps, places);
  const keptEdges = useRef(new Map<string, Edge>());
  const edges = useMemo(
    () => graph.edges.map(edge => kept(keptEdges.current, toEdge(edge, displays))),
    [graph.edges, displays],
  );
  return (
    <ReactFlow
      // Two graphs on a page must not share the ids of their parts.
      id={flowId}
      nodes={nodes}
      edges={edges}
      nodeTypes={nodeTypes}
      onNodeClick={(_, node) => {
        if (node.type === 'step') onSelect?.(node.id);
      }}
      onPaneClick={() => onSelect?.(null)}
      // Enter and Space select a focused node; React Flow reports that as a change, not as a click.
      onNodesChange={changes => {
        for (const change of changes) if (change.type === 'select' && change.selected) onSelect?.(change.id);
      }}
      {...wheel}
      nodesDraggable={false}
      nodesConnectable={false}
      edgesFocusable={false}
      onlyRenderVisibleElements={steps.length > 200}
      onInit={instance => {
        const { clientWidth: width = 0, clientHeight: height = 0 } = frame.current ?? {};
        const at = places.get(firstSight(steps, displays, selected));
        const all = [...places.values(), ...noteNodes.map(({ position }) => position)];
        // On a phone, the buttons at the bottom would cover the last step.
        const room = { width, height: height - 16, top: MARGIN };
        void instance.setViewport(
          firstView(all, room, { smallest: width < PHONE_WIDTH ? ICONS_ZOOM : LEGIBLE_ZOOM, at }),
        );
      }}
      minZoom={0.05}
      maxZoom={1.5}
      colorMode={resolvedTheme === 'dark' ? 'dark' : 'light'}
      style={flowTheme}
      proOptions={{ hideAttribution: true }}
    >
      <Background variant={BackgroundVariant.Dots} gap={16} size={1.5} color="var(--dots)" />
      {/* In a row: a column would cover the lowest steps of a graph that fills the width of a phone. */}
      <Controls showInteractive={false} orientation="horizontal" />
      {steps.length >= MIN_STEPS_FOR_MAP ? <StepMap {...{ steps, places, problems, selected }} /> : null}
    </ReactFlow>
  );
}

type StepMapProps = Pick<LaidOut, 'steps' | 'places'> &
  Pick<WorkflowGraphProps, 'problems'> & { selected: string | null };

function StepMap({ steps, places, problems, selected }: StepMapProps) {
  const types = useMemo(() => new Map(steps.map(({ id, type }) => [id, type])), [steps]);
  return (
    <GraphMap
      places={places}
      types={types}
      problems={problems}
      selected={new Set(selected === null ? [] : [selected])}
    />
  );
}

type Look = Pick<WorkflowGraphProps, 'notes' | 'displays' | 'problems'> & { selected: string | null };

/** Notes and steps as React Flow's nodes. */
function useNodes(
  { notes, displays, problems, selected }: Look,
  unique: readonly GraphStepInput[],
  places: ReadonlyMap<string, Point>,
) {
  const noteNodes = useMemo(() => drawnNotes({ notes }).map(toPlainNote), [notes]);
  const keptNodes = useRef(new Map<string, StepFlowNode>());
  const names = useCalledNames(unique);
  const stepNodes = useMemo(
    () =>
      unique.map(step =>
        kept(
          keptNodes.current,
          toNode(step, places.get(step.id), {
            display: displays?.get(step.id),
            problems: problems?.get(step.id),
            selected,
            names,
          }),
        ),
      ),
    [unique, places, displays, problems, selected, names],
  );
  const nodes = useMemo((): (StepFlowNode | PlainNoteNode)[] => [...noteNodes, ...stepNodes], [noteNodes, stepNodes]);
  return { nodes, noteNodes };
}

/** Returns the step at which a large graph opens: the selected step, else a failed or running step, else the first step. */
function firstSight(
  steps: readonly GraphStepInput[],
  displays: WorkflowGraphProps['displays'],
  selected: string | null,
): string {
  const having = (...statuses: string[]) =>
    steps.find(step => statuses.includes(displays?.get(step.id)?.status ?? ''))?.id;
  return selected ?? having('failed') ?? having('waiting', 'retrying', 'running') ?? steps[0]?.id ?? '';
}

/** Returns the node of the last drawing if it is equal, because React Flow draws new objects again. */
export function kept<T extends { id: string }>(last: Map<string, T>, next: T): T {
  const before = last.get(next.id);
  if (before && JSON.stringify(before) === JSON.stringify(next)) return before;
  last.set(next.id, next);
  return next;
}

type NodeLook = {
  display: StepDisplay | undefined;
  problems: number | undefined;
  selected: string | null;
  names: CalledNames;
};

function toNode(
  step: GraphStepInput,
  place: Point | undefined,
  { display, problems, selected, names }: NodeLook,
): StepFlowNode {
  const title = display?.title || step.name || step.id;
  return {
    id: step.id,
    type: 'step',
    position: place ?? { x: 0, y: 0 },
    width: nodeSize.width,
    height: nodeSize.height,
    measured: nodeSize,
    handles,
    selected: step.id === selected,
    ariaLabel: `${title}${display ? `: ${display.label}` : ''}`,
    data: {
      title,
      type: step.type,
      status: display?.status ?? null,
      statusLabel: display?.label ?? null,
      took: display?.took ?? null,
      attempt: display?.attempt ?? 0,
      problems: problems ?? 0,
      disabled: step.disabled === true,
      gated: step.gated === true,
      summary: summaryOf(step, id => names.get(id)),
      inner: innerStepsOf(step),
    },
  };
}

/** The color of the edges that a run took, by the status of the step at the end of the edge. */
const taken: Record<string, string> = { failed: 'var(--bad)', running: 'var(--info)', waiting: 'var(--warn)' };

function toEdge(edge: GraphEdge, displays: WorkflowGraphProps['displays']): Edge {
  const from = displays?.get(edge.from);
  const to = displays?.get(edge.to);
  const reached = to?.status;
  const isTaken = to?.began === true && (from?.began === true || from?.status === 'reused');
  const color = isTaken ? (taken[reached ?? ''] ?? 'var(--ok)') : 'var(--line-strong)';
  return {
    id: edge.id,
    source: edge.from,
    target: edge.to,
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
