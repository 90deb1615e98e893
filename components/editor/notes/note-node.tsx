'use client';
import { type Node, type NodeProps, NodeResizeControl } from '@xyflow/react';
import { memo } from 'react';
import { NoteCard, noteLabel } from '../../graph/note-card.tsx';
import { type DrawnNote, MAX_NOTE, MIN_NOTE, type NoteColor, noteNodeId } from '../../graph/notes.ts';
import { useCanvasActions } from '../canvas/canvas-actions.tsx';

export type NoteFlowNode = Node<{ note: string; text: string; color: NoteColor; editable: boolean }, 'note'>;

/** Returns a note as a React Flow node, below the steps. */
export function toNoteNode(note: DrawnNote, state: { selected: boolean; editable: boolean }): NoteFlowNode {
  const { id, text, color, position, width, height } = note;
  return {
    id: noteNodeId(id),
    type: 'note',
    position,
    width,
    height,
    zIndex: -1,
    selected: state.selected,
    ariaLabel: noteLabel(text),
    data: { note: id, text, color, editable: state.editable },
  };
}

/** A Markdown note on the canvas. It can be dragged, and resized at its corner. */
export const NoteNode = memo(function NoteNode({ data, selected, width, height }: NodeProps<NoteFlowNode>) {
  const { resizeNote } = useCanvasActions();
  const { note, text, color, editable } = data;
  return (
    <NoteCard note={note} text={text} color={color} size={{ width, height }} selected={selected}>
      {editable && selected ? (
        <NodeResizeControl
          position="bottom-right"
          minWidth={MIN_NOTE.width}
          minHeight={MIN_NOTE.height}
          maxWidth={MAX_NOTE.width}
          maxHeight={MAX_NOTE.height}
          onResizeEnd={(_, size) =>
            resizeNote(note, { width: Math.round(size.width), height: Math.round(size.height) })
          }
          className="size-3! rounded-sm! border-2! border-surface! bg-accent!"
        />
      ) : null}
    </NoteCard>
  );
});
