'use client';
import '@xyflow/react/dist/style.css';
import {
  Background,
  BackgroundVariant,
  Controls,
  MiniMap,
  type NodeChange,
  ReactFlow,
  ReactFlowProvider,
  SelectionMode,
} from '@xyflow/react';
import { useTheme } from 'next-themes';
import { type ReactNode, useCallback, useMemo, useRef, useState } from 'react';
import type { Branch } from '../../../server/domains/workflows/edits/index.ts';
import type { Point } from '../../graph/layout.ts';
import { flowTheme, kept, mapFrom } from '../../graph/workflow-graph.tsx';
import type { Place, Places } from '../editor-actions.ts';
import type { FocusRequest } from '../use-editor.ts';
import { CanvasActionsContext } from './canvas-actions.tsx';
import { EditorEdge, type EditorFlowEdge } from './editor-edge.tsx';
import { type EditorFlowNode, EditorNode } from './editor-node.tsx';
import { hasBranches, toEditorEdge, toEditorNode } from './flow-elements.ts';
import { useCanvasView } from './use-canvas-view.ts';
import { useConnections } from './use-connections.ts';
import { useDrop } from './use-drop.ts';
import type { Drawing } from './use-layout.ts';

const nodeTypes = { step: EditorNode };
const edgeTypes = { step: EditorEdge };
/** With more connections than this a “+” on each hides the graph. */
const CROWDED_FROM = 120;
const MULTI_SELECT = ['Shift', 'Meta', 'Control'];

export type CanvasProps = {
  drawing: Drawing;
  /** Number of errors by step. */
  problems: ReadonlyMap<string, number>;
  selected: ReadonlySet<string>;
  selectedEdge: string | null;
  found: ReadonlySet<string>;
  editable: boolean;
  /** The step to bring into view; a new object asks again. */
  focus: FocusRequest | null;
  onFocused: () => void;
  onSelect: (ids: ReadonlySet<string>) => void;
  onSelectEdge: (edge: string | null) => void;
  onOpenStep: (id: string) => void;
  onAdd: (place: Place, type?: string) => void;
  onMove: (moved: Places) => void;
  onConnect: (from: string, to: string, branch: Branch | undefined) => void;
  onReconnect: (old: { from: string; to: string }, next: { from: string; to: string; branch?: Branch }) => void;
  children?: ReactNode;
};

/** The graph of a draft, to be edited: steps are added, moved, connected and selected here. */
export function EditorCanvas(props: CanvasProps) {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  );
}

function Flow(props: CanvasProps) {
  const { drawing, editable, onAdd, onSelect, onSelectEdge, onOpenStep, onMove, children } = props;
  const { resolvedTheme } = useTheme();
  const frame = useRef<HTMLDivElement>(null);
  const [dragged, setDragged] = useState<Places | null>(null);
  const { nodes, edges } = useElements(props, dragged);
  const actions = useMemo(() => ({ add: (place: Place) => onAdd(place) }), [onAdd]);
  const view = useCanvasView(drawing.places, props.focus, props.onFocused, frame);
  const connections = useConnections(props, frame);
  const drop = useDrop(onAdd);
  const onNodesChange = useCallback(
    (changes: NodeChange<EditorFlowNode>[]) => {
      const moves = changes.flatMap((change): [string, Point][] =>
        change.type === 'position' && change.dragging && change.position ? [[change.id, change.position]] : [],
      );
      if (moves.length > 0) setDragged(before => new Map([...(before ?? []), ...moves]));
      const next = selectionAfter(props.selected, changes);
      if (next !== null) onSelect(next);
    },
    [onSelect, props.selected],
  );
  return (
    <CanvasActionsContext value={actions}>
      <div ref={frame} className="h-full w-full" {...drop}>
        <ReactFlow
          nodes={nodes}
          edges={edges}
          nodeTypes={nodeTypes}
          edgeTypes={edgeTypes}
          onInit={view.onInit}
          onNodesChange={onNodesChange}
          onNodeDragStop={() => {
            if (dragged !== null) onMove(dragged);
            setDragged(null);
          }}
          onSelectionDragStop={() => {
            if (dragged !== null) onMove(dragged);
            setDragged(null);
          }}
          onNodeDoubleClick={(_, node) => onOpenStep(node.id)}
          onEdgeClick={(_, edge) => onSelectEdge(edge.id)}
          onPaneClick={() => {
            onSelect(new Set());
            onSelectEdge(null);
          }}
          {...connections}
          nodesDraggable={editable}
          nodesConnectable={editable}
          edgesFocusable={false}
          // The keys of this canvas are the editor's (use-canvas-keys.ts).
          disableKeyboardA11y
          deleteKeyCode={null}
          multiSelectionKeyCode={MULTI_SELECT}
          selectionMode={SelectionMode.Partial}
          onlyRenderVisibleElements={nodes.length > 200}
          minZoom={0.05}
          maxZoom={1.5}
          colorMode={resolvedTheme === 'dark' ? 'dark' : 'light'}
          style={flowTheme}
          proOptions={{ hideAttribution: true }}
        >
          <Background variant={BackgroundVariant.Dots} gap={16} size={1} color="var(--line)" />
          <Controls showInteractive={false} />
          {nodes.length >= mapFrom ? (
            <MiniMap
              pannable
              zoomable
              bgColor="var(--surface)"
              maskColor="var(--scrim)"
              nodeColor="var(--line-strong)"
              ariaLabel="Map of the graph"
              className="max-sm:hidden"
            />
          ) : null}
          {children}
        </ReactFlow>
      </div>
    </CanvasActionsContext>
  );
}

/** Nodes and edges for React Flow, which draws again only what is a new object. */
function useElements(props: CanvasProps, dragged: Places | null) {
  const { drawing, problems, selected, selectedEdge, found, editable } = props;
  const keptNodes = useRef(new Map<string, EditorFlowNode>());
  const keptEdges = useRef(new Map<string, EditorFlowEdge>());
  const nodes = useMemo(
    () =>
      drawing.steps.map(step => {
        const { id } = step;
        const state = { problems: problems.get(id) ?? 0, selected: selected.has(id), found: found.has(id), editable };
        return kept(keptNodes.current, toEditorNode(step, dragged?.get(id) ?? drawing.places.get(id), state));
      }),
    [drawing, problems, selected, found, editable, dragged],
  );
  const edges = useMemo(() => {
    const branching = new Set(drawing.steps.filter(hasBranches).map(({ id }) => id));
    const crowded = drawing.edges.length > CROWDED_FROM;
    return drawing.edges.map(edge =>
      kept(
        keptEdges.current,
        toEditorEdge(edge, {
          branches: branching.has(edge.from),
          selected: edge.id === selectedEdge,
          editable,
          crowded,
        }),
      ),
    );
  }, [drawing, selectedEdge, editable]);
  return { nodes, edges };
}

/** The selection after React Flow's changes; null where they change none. */
function selectionAfter(
  selected: ReadonlySet<string>,
  changes: readonly NodeChange<EditorFlowNode>[],
): ReadonlySet<string> | null {
  const next = new Set(selected);
  for (const change of changes) {
    if (change.type !== 'select') continue;
    if (change.selected) next.add(change.id);
    else next.delete(change.id);
  }
  return next.size === selected.size && [...next].every(id => selected.has(id)) ? null : next;
}
