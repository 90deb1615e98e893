'use client';
import '@xyflow/react/dist/style.css';
import { Background, BackgroundVariant, Controls, type Edge, ReactFlow, ReactFlowProvider } from '@xyflow/react';
import { useTheme } from 'next-themes';
import { type CSSProperties, type ReactNode, type RefObject, useId, useMemo, useRef } from 'react';
import { Skeleton } from '../ui/skeleton.tsx';
import type { Box } from './containers.ts';
import { useDetailLevel } from './detail-level.ts';
import { firstView, ICONS_ZOOM, LEGIBLE_ZOOM, MARGIN } from './first-view.ts';
import { type StepDisplays, shownNode, toPlainEdge, toPlainStep } from './graph-elements.ts';
import { GraphMap } from './graph-map.tsx';
import { edgesOf, type GraphStepInput } from './layout.ts';
import { boxesOf, insetOf, type Levels, nodeIn, typesOf } from './levels.ts';
import { type DrawnNote, drawnNotes, noteNodeId } from './notes.ts';
import { PlainNote, type PlainNoteNode, toPlainNote } from './plain-note.tsx';
import { LoopToolsContext, PlainLoop, PlainStep, type PlainStepNode } from './plain-step.tsx';
import { useCalledNames } from './use-called-names.ts';
import { type LaidOut, useLaidOut } from './use-laid-out.ts';
import { useLevels } from './use-levels.ts';
import { type OpenedLoops, useOpenedLoops } from './use-opened-loops.ts';
import { useWheel } from './use-wheel.ts';

const nodeTypes = { step: PlainStep, loop: PlainLoop, note: PlainNote };

/** On a phone the whole graph is shown as icons, because few names would fit. The list below has the names. */
const PHONE_WIDTH = 480;
/** The number of steps from which a map is worth its space. */
export const MIN_STEPS_FOR_MAP = 24;

/** React Flow's own parts, in our colors. */
export const flowTheme = {
  '--xy-background-color': 'var(--sunken)',
  '--xy-controls-button-background-color': 'var(--surface)',
  '--xy-controls-button-background-color-hover': 'var(--hover)',
  '--xy-controls-button-color': 'var(--text)',
  '--xy-controls-button-border-color': 'var(--line)',
  '--xy-edge-label-background-color': 'var(--sunken)',
  '--xy-edge-label-color': 'var(--muted)',
} as CSSProperties;

export type WorkflowGraphProps = {
  steps: readonly GraphStepInput[];
  /** The notes of the graph. Invalid notes are left out. */
  notes?: unknown;
  /** The states by node; absent for a draft, which has none. */
  displays?: StepDisplays;
  /** The number of validation problems by node. */
  problems?: ReadonlyMap<string, number>;
  /** The node of the selected step (levels.ts). */
  selected?: string | null;
  onSelect?: (node: string | null) => void;
  /**
   * The loops that are drawn with their steps; null for none. If absent, users open and close loops, and the choice is
   * not stored.
   */
  loops?: OpenedLoops | null;
  /** Returns the footer of an open loop by its node. */
  loopFoot?: ((node: string) => ReactNode) | undefined;
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

const allClosed = () => false;
const noFoot = () => null;

function Drawing(props: DrawingProps) {
  const { graph, frame, notes, displays, problems, onSelect } = props;
  const { resolvedTheme } = useTheme();
  const flowId = useId();
  const wheel = useWheel(frame);
  const own = useOpenedLoops(graph.steps);
  const { loops = own, loopFoot = noFoot } = props;
  const drawn = useMemo(() => drawnNotes({ notes }), [notes]);
  const levels = useLevels(graph, drawn, loops?.isOpen ?? allClosed);
  const boxes = useMemo(() => boxesOf(levels), [levels]);
  const selected = shownNode(boxes, props.selected ?? null);
  const nodes = useNodes({ displays, problems, selected }, levels, drawn);
  const keptEdges = useRef(new Map<string, Edge>());
  const edges = useMemo(
    () =>
      levels.flatMap(({ node, edges }) =>
        edges.map(edge => kept(keptEdges.current, toPlainEdge(node, edge, displays))),
      ),
    [levels, displays],
  );
  const tools = useMemo(() => ({ toggle: loops?.toggle ?? null, foot: loopFoot }), [loops, loopFoot]);
  return (
    <LoopToolsContext value={tools}>
      <ReactFlow
        // Two graphs on a page must not share the ids of their parts.
        id={flowId}
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        onNodeClick={(_, node) => {
          if (node.type !== 'note') onSelect?.(node.id);
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
        onlyRenderVisibleElements={nodes.length > 200}
        onInit={instance => {
          const { clientWidth: width = 0, clientHeight: height = 0 } = frame.current ?? {};
          const at = boxes.get(firstSight(levels, displays, selected));
          // On a phone, the buttons at the bottom would cover the last step.
          const room = { width, height: height - 16, top: MARGIN };
          void instance.setViewport(
            firstView([...boxes.values()], room, { smallest: width < PHONE_WIDTH ? ICONS_ZOOM : LEGIBLE_ZOOM, at }),
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
        {graph.steps.length >= MIN_STEPS_FOR_MAP ? <StepMap {...{ levels, boxes, problems, selected }} /> : null}
      </ReactFlow>
    </LoopToolsContext>
  );
}

type StepMapProps = Pick<WorkflowGraphProps, 'problems'> & {
  levels: Levels;
  boxes: ReadonlyMap<string, Box>;
  selected: string | null;
};

function StepMap({ levels, boxes, problems, selected }: StepMapProps) {
  return (
    <GraphMap
      places={boxes}
      types={useMemo(() => typesOf(levels), [levels])}
      problems={problems}
      selected={new Set(selected === null ? [] : [selected])}
    />
  );
}

type Look = Pick<WorkflowGraphProps, 'displays' | 'problems'> & { selected: string | null };

/** Notes and steps as React Flow's nodes. */
function useNodes(
  { displays, problems, selected }: Look,
  levels: Levels,
  notes: readonly DrawnNote[],
): (PlainStepNode | PlainNoteNode)[] {
  const [root] = levels;
  const noteNodes = useMemo(
    () => notes.map(note => toPlainNote({ ...note, position: root?.drawn.get(noteNodeId(note.id)) ?? note.position })),
    [notes, root],
  );
  const keptNodes = useRef(new Map<string, PlainStepNode>());
  const names = useCalledNames(useMemo(() => levels.flatMap(({ steps }) => steps), [levels]));
  const stepNodes = useMemo(
    () =>
      levels.flatMap(level => {
        const inset = insetOf(level);
        return level.steps.map(step => {
          const id = nodeIn(level.node, step.id);
          const at = level.drawn.get(step.id);
          const place = at && { x: at.x + inset.x, y: at.y + inset.y };
          const look = { display: displays?.get(id), problems: problems?.get(id), selected, names };
          const size = level.sizes.get(step.id);
          return kept(keptNodes.current, toPlainStep(level.node, step, place, { ...look, size }));
        });
      }),
    [levels, displays, problems, selected, names],
  );
  return useMemo(() => [...noteNodes, ...stepNodes], [noteNodes, stepNodes]);
}

/** Returns the node at which a large graph opens: the selected node, else a failed or running one; empty for the beginning. */
function firstSight(levels: Levels, displays: StepDisplays | undefined, selected: string | null): string {
  const nodes = levels.flatMap(({ node, steps }) => steps.map(({ id }) => nodeIn(node, id)));
  const firstWith = (...statuses: string[]) => nodes.find(node => statuses.includes(displays?.get(node)?.status ?? ''));
  return selected ?? firstWith('failed') ?? firstWith('waiting', 'retrying', 'running') ?? '';
}

/** Returns the node of the last drawing if it is equal, because React Flow draws new objects again. */
export function kept<T extends { id: string }>(last: Map<string, T>, next: T): T {
  const before = last.get(next.id);
  if (before && JSON.stringify(before) === JSON.stringify(next)) return before;
  last.set(next.id, next);
  return next;
}
