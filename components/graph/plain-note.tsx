import type { Node, NodeProps } from '@xyflow/react';
import { memo } from 'react';
import { NoteCard, noteLabel } from './note-card.tsx';
import { type DrawnNote, type NoteColor, noteNodeId } from './notes.ts';

export type PlainNoteNode = Node<{ note: string; text: string; color: NoteColor }, 'note'>;

/** Returns a note as React Flow draws it in a graph that is only looked at: beneath the steps, and not to be selected. */
export function toPlainNote({ id, text, color, position, width, height }: DrawnNote): PlainNoteNode {
  return {
    id: noteNodeId(id),
    type: 'note',
    position,
    width,
    height,
    measured: { width, height },
    zIndex: -1,
    selectable: false,
    focusable: false,
    ariaLabel: noteLabel(text),
    data: { note: id, text, color },
  };
}

/** A note in a graph that is only looked at. */
export const PlainNote = memo(function PlainNote({ data, width, height }: NodeProps<PlainNoteNode>) {
  return <NoteCard {...data} size={{ width, height }} />;
});
