'use client';
import '@xyflow/react/dist/style.css';
import {
  Background,
  BackgroundVariant,
  ControlButton,
  Controls,
  ReactFlow,
  ReactFlowProvider,
  SelectionMode,
} from '@xyflow/react';
import { Maximize } from 'lucide-react';
import { useTheme } from 'next-themes';
import { memo, useMemo, useRef, useState } from 'react';
import type { Branch } from '../../../server/domains/workflows/edits/index.ts';
import type { Box } from '../../graph/containers.ts';
import { useDetailLevel } from '../../graph/detail-level.ts';
import { GraphMap } from '../../graph/graph-map.tsx';
import { MAX_MINIMIZED } from '../../graph/layout.ts';
import { boxesOf, type Levels, nodeIn, placeOf, sameStructure, typesOf } from '../../graph/levels.ts';
import { type DrawnNote, noteOfNode, type Size } from '../../graph/notes.ts';
import type { CalledNames } from '../../graph/use-called-names.ts';
import { useWheel } from '../../graph/use-wheel.ts';
import { flowTheme, kept, MIN_STEPS_FOR_MAP } from '../../graph/workflow-graph.tsx';
import { cx } from '../../ui/classes.ts';
import type { Place, Places } from '../editor-actions.ts';
import { type NoteFlowNode, NoteNode } from '../notes/note-node.tsx';
import { isTaken } from '../over/run-marks.ts';
import { startBox, startLines, toStartNode } from '../start/start-elements.ts';
import { START_NODE, type StartFlowNode, StartNode } from '../start/start-node.tsx';
import type { FocusRequest } from '../use-editor.ts';
import { CanvasActionsContext } from './canvas-actions.tsx';
import type { CanvasMenuAt } from './canvas-menu.tsx';
import { EditorEdge, type EditorFlowEdge } from './editor-edge.tsx';
import { type EditorFlowNode, EditorNode } from './editor-node.tsx';
import { hasBranches, toEditorEdge } from './flow-elements.ts';
import { LoopNode } from './loop-node.tsx';
import { PointedEdge } from './pointed-edge.ts';
import { useCanvasView } from './use-canvas-view.ts';
import { useConnections } from './use-connections.ts';
import { useDrop } from './use-drop.ts';
import { useNodes } from './use-nodes.ts';

const nodeTypes = { step: EditorNode, loop: LoopNode, note: NoteNode, start: StartNode };
const edgeTypes = { step: EditorEdge };
/**
 * Above this number, nodes move without a transition (app/globals.css): each node with a transition has its own layer.
 */
const MAX_ANIMATED_NODES = 200;
const MULTI_SELECT = ['Shift', 'Meta', 'Control'];

/** A node of the canvas: a step, a note or the start. */
export type CanvasNode = EditorFlowNode | NoteFlowNode | StartFlowNode;

/** The changes of a proposal, or the statuses of a run, that is shown over the draft, by step. */
export type CanvasMarks = ReadonlyMap<string, string>;

/** Steps and places are keyed by node id. The node id of a step in a loop includes the ids of the loops around it (levels.ts). */
export type CanvasProps = {
  levels: Levels;
  notes: readonly DrawnNote[];
  /** Number of errors by step. */
  problems: ReadonlyMap<string, number>;
  marks: CanvasMarks;
  /** The names of the workflows and agents that the steps refer to by id. */
  names?: CalledNames;
  /** The steps whose results are pinned. */
  pinned?: ReadonlySet<string>;
  selected: ReadonlySet<string>;
  selectedEdge: string | null;
  selectedNote: string | null;
  found: ReadonlySet<string>;
  editable: boolean;
  /** The node to bring into view. A new object repeats the request. */
  focus: FocusRequest | null;
  onFocused: () => void;
  onSelect: (ids: ReadonlySet<string>) => void;
  onSelectEdge: (edge: string | null) => void;
  onSelectNote: (note: string | null) => void;
  onResizeNote: (note: string, size: Size) => void;
  onOpenNode: (id: string) => void;
  /** `level` is the loop of a step that is added after no other step. */
  onAdd: (place: Place, type?: string, level?: string) => void;
  /** Absent if loops stay collapsed. */
  onToggleLoop?: (loop: string, open: boolean) => void;
  /** The places are relative to the loop around the node. */
  onMove: (moved: Places) => void;
  onConnect: (from: string, to: string, branch: Branch | undefined) => void;
  onReconnect: (old: { from: string; to: string }, next: { from: string; to: string; branch?: Branch }) => void;
  onDisconnect: (from: string, to: string) => void;
  onMenu: (menu: CanvasMenuAt) => void;
  /** Whether a large graph has a minimap. Default: true. */
  showsMap?: boolean;
  /** The start node above the first steps; absent for the steps of a loop. */
  start?: StartFlowNode['data'] | undefined;
};

/**
 * The editable graph of a draft: steps are added, moved, connected and selected here. Renders only when its props change, because each
 * render updates React Flow's state of every step.
 */
export const EditorCanvas = memo(function EditorCanvas(props: CanvasProps) {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  );
});

function Flow(props: CanvasProps) {
  const { editable, selected, levels, onAdd, onSelect, onSelectEdge, onMenu } = props;
  const { resolvedTheme } = useTheme();
  const frame = useRef<HTMLDivElement>(null);
  const drawn = useNodes(props);
  const { nodes: _, ...hands } = drawn;
  const [pointed] = useState(() => new PointedEdge());
  const actions = useActions(props, pointed);
  const stepBoxes = useMemo(() => boxesOf(levels), [levels]);
  const { nodes, edges, boxes } = useStart(props, drawn.nodes, useEdges(props), stepBoxes);
  const detail = useDetailLevel();
  const view = useCanvasView(boxes, props.focus, props.onFocused, frame);
  const connections = useConnections(props, frame);
  const drop = useDrop(levels, stepBoxes, onAdd);
  const wheel = useWheel(frame, true);
  return (
    <CanvasActionsContext value={actions}>
      <div
        ref={frame}
        data-detail={detail}
        className={cx('group/graph h-full w-full', nodes.length <= MAX_ANIMATED_NODES && 'glides')}
        {...drop}
      >
        <ReactFlow
          nodes={nodes}
          edges={edges}
          nodeTypes={nodeTypes}
          edgeTypes={edgeTypes}
          onInit={view.onInit}
          {...hands}
          onNodeClick={(event, node) => {
            // With a modifier key, React Flow keeps the selection, so that several steps can be dragged.
            const isPlain = !event.shiftKey && !event.metaKey && !event.ctrlKey;
            if (isPlain && selected.size > 1 && selected.has(node.id)) onSelect(new Set([node.id]));
          }}
          onNodeDoubleClick={(_, node) => node.type !== 'start' && props.onOpenNode(node.id)}
          onNodeContextMenu={(event, node) => {
            event.preventDefault();
            if (node.type === 'start') return onMenu({ x: event.clientX, y: event.clientY });
            if (!selected.has(node.id) && noteOfNode(node.id) === null) onSelect(new Set([node.id]));
            onMenu({ x: event.clientX, y: event.clientY, node: node.id });
          }}
          onEdgeContextMenu={(event, edge) => {
            event.preventDefault();
            onSelectEdge(edge.id);
            onMenu({ x: event.clientX, y: event.clientY, edge: { from: edge.source, to: edge.target } });
          }}
          onPaneContextMenu={event => {
            event.preventDefault();
            onMenu({ x: event.clientX, y: event.clientY });
          }}
          onEdgeMouseEnter={(_, edge) => pointed.enter(edge.id)}
          onEdgeMouseLeave={(event, edge) => pointed.leave(edge.id, event.relatedTarget)}
          onEdgeClick={(_, edge) => onSelectEdge(edge.id)}
          onPaneClick={() => {
            onSelect(new Set());
            onSelectEdge(null);
          }}
          {...connections}
          isValidConnection={({ source, target }) => placeOf(source).level === placeOf(target).level}
          {...wheel}
          nodesDraggable={editable}
          nodesConnectable={editable}
          edgesFocusable={false}
          // The editor handles the keys of this canvas (use-canvas-keys.ts).
          disableKeyboardA11y
          deleteKeyCode={null}
          multiSelectionKeyCode={MULTI_SELECT}
          selectionMode={SelectionMode.Partial}
          elevateNodesOnSelect={false}
          // A focused step that a late layout moves out of view would lose the focus if it were removed from the DOM.
          onlyRenderVisibleElements={nodes.length > MAX_MINIMIZED}
          minZoom={0.05}
          maxZoom={1.5}
          colorMode={resolvedTheme === 'dark' ? 'dark' : 'light'}
          style={flowTheme}
          proOptions={{ hideAttribution: true }}
        >
          <Background variant={BackgroundVariant.Dots} gap={16} size={1.5} color="var(--dots)" />
          <Controls showInteractive={false} showFitView={false}>
            <ControlButton title="Fit View" aria-label="Fit View" onClick={view.fit}>
              <Maximize aria-hidden className="fill-none!" />
            </ControlButton>
          </Controls>
          {nodes.length >= MIN_STEPS_FOR_MAP && props.showsMap !== false ? (
            <StepMap {...{ levels, boxes: stepBoxes, problems: props.problems, selected }} />
          ) : null}
        </ReactFlow>
      </div>
    </CanvasActionsContext>
  );
}

type StepMapProps = Pick<CanvasProps, 'levels' | 'problems' | 'selected'> & { boxes: ReadonlyMap<string, Box> };

function StepMap({ levels, boxes, problems, selected }: StepMapProps) {
  const types = useMemo(() => typesOf(levels), [levels]);
  return <GraphMap places={boxes} types={types} problems={problems} selected={selected} />;
}

/** Adds the start node and its lines to the drawing. */
function useStart(
  { levels, start }: CanvasProps,
  steps: readonly CanvasNode[],
  connections: readonly EditorFlowEdge[],
  boxes: ReadonlyMap<string, Box>,
) {
  return useMemo(() => {
    const box = start === undefined ? null : startBox(levels, boxes);
    if (box === null || start === undefined) return { nodes: [...steps], edges: [...connections], boxes };
    return {
      nodes: [toStartNode(box, start), ...steps],
      edges: [...startLines(levels), ...connections] as EditorFlowEdge[],
      boxes: new Map([...boxes, [START_NODE, box] as const]),
    };
  }, [levels, start, steps, connections, boxes]);
}

/** Returns the actions of nodes and connections. The object stays the same while the canvas is mounted. */
function useActions({ onAdd, onToggleLoop, onDisconnect, onResizeNote }: CanvasProps, pointed: PointedEdge) {
  return useMemo(
    () => ({
      add: (place: Place) => onAdd(place),
      addIn: (loop: string) => onAdd({ kind: 'free' }, undefined, loop),
      toggleLoop: onToggleLoop ?? null,
      disconnect: onDisconnect,
      resizeNote: onResizeNote,
      pointed,
    }),
    [onAdd, onToggleLoop, onDisconnect, onResizeNote, pointed],
  );
}

/** Returns the connections for React Flow. Unchanged connections stay the same objects, because React Flow redraws every new object. */
function useEdges({ levels, marks, selectedEdge, editable }: CanvasProps): EditorFlowEdge[] {
  const keptEdges = useRef(new Map<string, EditorFlowEdge>());
  // Compared as text, so that typing into a step creates no new connections.
  const conditions = JSON.stringify(
    levels.flatMap(({ node, steps }) => steps.filter(hasBranches).map(({ id }) => nodeIn(node, id))),
  );
  const last = useRef(levels);
  if (!sameStructure(last.current, levels)) last.current = levels;
  const drawn = last.current;
  return useMemo(() => {
    const branching = new Set<string>(JSON.parse(conditions));
    return drawn.flatMap(({ node, edges }) =>
      edges.map(edge => {
        const [from, to] = [nodeIn(node, edge.from), nodeIn(node, edge.to)];
        const state = {
          branches: branching.has(from),
          selected: nodeIn(node, edge.id) === selectedEdge,
          editable,
          ghost: marks.get(from) === 'added' || marks.get(to) === 'added',
          taken: isTaken(marks, from, to),
        };
        return kept(keptEdges.current, toEditorEdge(node, edge, state));
      }),
    );
  }, [drawn, conditions, marks, selectedEdge, editable]);
}
