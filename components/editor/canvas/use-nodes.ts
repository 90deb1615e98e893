'use client';
import type { NodeChange } from '@xyflow/react';
import { useCallback, useMemo, useRef, useState } from 'react';
import { calledBy } from '../../graph/called-names.ts';
import type { GraphStepInput, Point } from '../../graph/layout.ts';
import { insetOf, nodeIn } from '../../graph/levels.ts';
import { noteNodeId, noteOfNode, type Size } from '../../graph/notes.ts';
import { kept } from '../../graph/workflow-graph.tsx';
import type { Places } from '../editor-actions.ts';
import { type NoteFlowNode, toNoteNode } from '../notes/note-node.tsx';
import type { CanvasNode, CanvasProps } from './editor-canvas.tsx';
import type { EditorFlowNode } from './editor-node.tsx';
import { type NodeState, toEditorNode } from './flow-elements.ts';

/** Returns steps and notes as React Flow nodes, and the handlers for selecting, dragging and resizing them. */
export function useNodes(props: CanvasProps) {
  const { selected, onSelect, onSelectNote, onMove } = props;
  const [dragged, setDragged] = useState<Places | null>(null);
  const [resized, setResized] = useState<Resized | null>(null);
  const steps = useSteps(props, dragged);
  const notes = useNotes(props, dragged, resized);
  const nodes = useMemo((): readonly CanvasNode[] => [...notes, ...steps], [notes, steps]);
  const onNodesChange = useCallback(
    (changes: NodeChange<CanvasNode>[]) => {
      const moves = changes.flatMap((change): [string, Point][] =>
        change.type === 'position' && change.dragging && change.position ? [[change.id, change.position]] : [],
      );
      if (moves.length > 0) setDragged(before => new Map([...(before ?? []), ...moves]));
      for (const change of changes) {
        if (change.type !== 'dimensions' || change.resizing === undefined) continue;
        setResized(change.resizing && change.dimensions ? { node: change.id, size: change.dimensions } : null);
      }
      const next = selectionAfter(selected, changes);
      if (next !== null) onSelect(next);
      const note = noteAfter(changes);
      if (note !== undefined && (next === null || next.size === 0)) onSelectNote(note);
    },
    [onSelect, onSelectNote, selected],
  );
  const onDragStop = () => {
    if (dragged !== null) onMove(dragged);
    setDragged(null);
  };
  return { nodes, onNodesChange, onNodeDragStop: onDragStop, onSelectionDragStop: onDragStop };
}

/** `isNew`: the step was added to a graph that was already drawn. */
type DrawnStep = {
  step: GraphStepInput;
  place: Point | undefined;
  state: NodeState;
  node: EditorFlowNode;
  isNew: boolean;
};

const isSame = (a: NodeState, b: NodeState): boolean =>
  a.problems === b.problems &&
  a.selected === b.selected &&
  a.found === b.found &&
  a.editable === b.editable &&
  a.mark === b.mark &&
  a.pinned === b.pinned &&
  a.called === b.called &&
  a.size?.width === b.size?.width &&
  a.size?.height === b.size?.height;

type Resized = { node: string; size: Size };

function useSteps(props: CanvasProps, dragged: Places | null): EditorFlowNode[] {
  const { levels, problems, marks, selected, found, editable } = props;
  const keptNodes = useRef(new Map<string, DrawnStep>());
  const isDrawn = useRef(false);
  return useMemo(() => {
    const wasDrawn = isDrawn.current;
    isDrawn.current = true;
    return levels.flatMap(level => {
      const inset = insetOf(level);
      return level.steps.map(step => {
        const id = nodeIn(level.node, step.id);
        const state = {
          problems: problems.get(id) ?? 0,
          selected: selected.has(id),
          found: found.has(id),
          editable,
          mark: marks.get(id) ?? null,
          pinned: props.pinned?.has(id) === true,
          called: props.names?.get(calledBy(step) ?? '') ?? null,
          size: level.sizes.get(step.id) ?? null,
        };
        const drawn = level.drawn.get(step.id);
        const place = dragged?.get(id) ?? (drawn && { x: drawn.x + inset.x, y: drawn.y + inset.y });
        const last = keptNodes.current.get(id);
        const isSamePlace = last?.place?.x === place?.x && last?.place?.y === place?.y;
        // A key press changes one step of perhaps a thousand; this check avoids rendering the others.
        if (last?.step === step && isSamePlace && isSame(last.state, state)) return last.node;
        const isNew = last?.isNew ?? wasDrawn;
        const drawnNode = toEditorNode(level.node, step, place, state);
        // A new step fades in at its place.
        const node = isNew && place !== undefined ? { ...drawnNode, className: 'animate-in' } : drawnNode;
        keptNodes.current.set(id, { step, place, state, node, isNew });
        return node;
      });
    });
  }, [levels, problems, marks, selected, found, editable, dragged, props.pinned, props.names]);
}

/** Returns the notes as nodes, with their current places and sizes during a drag or resize. */
function useNotes(
  { levels: [root], notes, selectedNote, editable }: CanvasProps,
  dragged: Places | null,
  resized: Resized | null,
): NoteFlowNode[] {
  const keptNotes = useRef(new Map<string, NoteFlowNode>());
  return useMemo(
    () =>
      notes.map(note => {
        const node = noteNodeId(note.id);
        const position = dragged?.get(node) ?? root?.drawn.get(node) ?? note.position;
        const size = resized?.node === node ? resized.size : {};
        return kept(
          keptNotes.current,
          toNoteNode({ ...note, ...size, position }, { selected: note.id === selectedNote, editable }),
        );
      }),
    [root, notes, selectedNote, editable, dragged, resized],
  );
}

/** Returns the note that React Flow's changes select; null if they deselect it; undefined if they concern no note. */
function noteAfter(changes: readonly NodeChange<CanvasNode>[]): string | null | undefined {
  const about = changes.flatMap(change => {
    const note = change.type === 'select' ? noteOfNode(change.id) : null;
    return change.type === 'select' && note !== null ? [{ note, selected: change.selected }] : [];
  });
  if (about.length === 0) return undefined;
  return about.find(({ selected }) => selected)?.note ?? null;
}

/** Returns the selected steps after React Flow's changes; null if the selection stays the same. */
function selectionAfter(
  selected: ReadonlySet<string>,
  changes: readonly NodeChange<CanvasNode>[],
): ReadonlySet<string> | null {
  const next = new Set(selected);
  for (const change of changes) {
    if (change.type !== 'select' || noteOfNode(change.id) !== null) continue;
    if (change.selected) next.add(change.id);
    else next.delete(change.id);
  }
  return next.size === selected.size && [...next].every(id => selected.has(id)) ? null : next;
}
