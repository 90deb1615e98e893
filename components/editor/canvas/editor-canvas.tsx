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
import { useDetailLevel } from '../../graph/detail-level.ts';
import { GraphMap } from '../../graph/graph-map.tsx';
import { MAX_MINIMIZED } from '../../graph/layout.ts';
import { type DrawnNote, noteOfNode, type Size } from '../../graph/notes.ts';
import { useWheel } from '../../graph/use-wheel.ts';
import { flowTheme, kept, MIN_STEPS_FOR_MAP } from '../../graph/workflow-graph.tsx';
import type { Place, Places } from '../editor-actions.ts';
import { type NoteFlowNode, NoteNode } from '../notes/note-node.tsx';
import { isTaken } from '../over/run-marks.ts';
import type { FocusRequest } from '../use-editor.ts';
import { CanvasActionsContext } from './canvas-actions.tsx';
import type { CanvasMenuAt } from './canvas-menu.tsx';
import { EditorEdge, type EditorFlowEdge } from './editor-edge.tsx';
import { type EditorFlowNode, EditorNode } from './editor-node.tsx';
import { hasBranches, toEditorEdge } from './flow-elements.ts';
import { PointedEdge } from './pointed-edge.ts';
import { useCanvasView } from './use-canvas-view.ts';
import { useConnections } from './use-connections.ts';
import { useDrop } from './use-drop.ts';
import type { Drawing } from './use-layout.ts';
import { useNodes } from './use-nodes.ts';

const nodeTypes = { step: EditorNode, note: NoteNode };
const edgeTypes = { step: EditorEdge };
const MULTI_SELECT = ['Shift', 'Meta', 'Control'];

/** A node of the canvas: a step or a note. */
export type CanvasNode = EditorFlowNode | NoteFlowNode;

/** The changes that a proposal shown over the draft makes, or the statuses in a run shown over it, by step. */
export type CanvasMarks = ReadonlyMap<string, string>;

export type CanvasProps = {
  drawing: Drawing;
  notes: readonly DrawnNote[];
  /** Where steps and notes are, by the ids of their nodes. */
  places: Places;
  /** Number of errors by step. */
  problems: ReadonlyMap<string, number>;
  marks: CanvasMarks;
  /** The steps whose results are pinned. */
  pinned?: ReadonlySet<string>;
  selected: ReadonlySet<string>;
  selectedEdge: string | null;
  selectedNote: string | null;
  found: ReadonlySet<string>;
  editable: boolean;
  /** The node to bring into view; a new object asks again. */
  focus: FocusRequest | null;
  onFocused: () => void;
  onSelect: (ids: ReadonlySet<string>) => void;
  onSelectEdge: (edge: string | null) => void;
  onSelectNote: (note: string | null) => void;
  onResizeNote: (note: string, size: Size) => void;
  onOpenNode: (id: string) => void;
  onAdd: (place: Place, type?: string) => void;
  onMove: (moved: Places) => void;
  onConnect: (from: string, to: string, branch: Branch | undefined) => void;
  onReconnect: (old: { from: string; to: string }, next: { from: string; to: string; branch?: Branch }) => void;
  onDisconnect: (from: string, to: string) => void;
  onMenu: (menu: CanvasMenuAt) => void;
};

/**
 * The graph of a draft, to be edited: steps are added, moved, connected and selected here. It renders only for other props:
 * each of its renderings updates what React Flow keeps of every step.
 */
export const EditorCanvas = memo(function EditorCanvas(props: CanvasProps) {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  );
});

function Flow(props: CanvasProps) {
  const { editable, selected, onAdd, onSelect, onSelectEdge, onResizeNote, onDisconnect, onMenu } = props;
  const { resolvedTheme } = useTheme();
  const frame = useRef<HTMLDivElement>(null);
  const { nodes, ...hands } = useNodes(props);
  const edges = useEdges(props);
  const [pointed] = useState(() => new PointedEdge());
  const actions = useMemo(
    () => ({ add: (place: Place) => onAdd(place), disconnect: onDisconnect, resizeNote: onResizeNote, pointed }),
    [onAdd, onDisconnect, onResizeNote, pointed],
  );
  const detail = useDetailLevel();
  const view = useCanvasView(props.places, props.focus, props.onFocused, frame);
  const connections = useConnections(props, frame);
  const drop = useDrop(onAdd);
  const wheel = useWheel(frame, true);
  return (
    <CanvasActionsContext value={actions}>
      <div ref={frame} data-detail={detail} className="group/graph h-full w-full" {...drop}>
        <ReactFlow
          nodes={nodes}
          edges={edges}
          nodeTypes={nodeTypes}
          edgeTypes={edgeTypes}
          onInit={view.onInit}
          {...hands}
          onNodeClick={(event, node) => {
            // React Flow leaves the selection as it is, so that several steps can be dragged.
            const isPlain = !event.shiftKey && !event.metaKey && !event.ctrlKey;
            if (isPlain && selected.size > 1 && selected.has(node.id)) onSelect(new Set([node.id]));
          }}
          onNodeDoubleClick={(_, node) => props.onOpenNode(node.id)}
          onNodeContextMenu={(event, node) => {
            event.preventDefault();
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
          {...wheel}
          nodesDraggable={editable}
          nodesConnectable={editable}
          edgesFocusable={false}
          // The keys of this canvas are the editor's (use-canvas-keys.ts).
          disableKeyboardA11y
          deleteKeyCode={null}
          multiSelectionKeyCode={MULTI_SELECT}
          selectionMode={SelectionMode.Partial}
          elevateNodesOnSelect={false}
          // A step that a late layout moves out of view would lose the keyboard, were it no longer in the DOM.
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
          {nodes.length >= MIN_STEPS_FOR_MAP ? <GraphMap places={props.places} /> : null}
        </ReactFlow>
      </div>
    </CanvasActionsContext>
  );
}

/** The connections for React Flow, which draws again only what is a new object. */
function useEdges({ drawing, marks, selectedEdge, editable }: CanvasProps): EditorFlowEdge[] {
  const keptEdges = useRef(new Map<string, EditorFlowEdge>());
  const { steps, edges } = drawing;
  // Typing into a step changes neither of the two.
  const conditions = useMemo(() => JSON.stringify(steps.filter(hasBranches).map(({ id }) => id)), [steps]);
  return useMemo(() => {
    const branching = new Set<string>(JSON.parse(conditions));
    return edges.map(edge =>
      kept(
        keptEdges.current,
        toEditorEdge(edge, {
          branches: branching.has(edge.from),
          selected: edge.id === selectedEdge,
          editable,
          ghost: marks.get(edge.from) === 'added' || marks.get(edge.to) === 'added',
          taken: isTaken(marks, edge.from, edge.to),
        }),
      ),
    );
  }, [edges, conditions, marks, selectedEdge, editable]);
}
