import type { Node, NodeProps } from '@xyflow/react';
import { memo } from 'react';
import { NoteCard, noteLabel } from './note-card.tsx';
import { type DrawnNote, type NoteColor, noteNodeId } from './notes.ts';

export type PlainNoteNode = Node<{ note: string; text: string; color: NoteColor }, 'note'>;

/** Returns the node of a note in a read-only graph: below the steps, and not selectable. */
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

/** A note in a read-only graph. */
export const PlainNote = memo(function PlainNote({ data, width, height }: NodeProps<PlainNoteNode>) {
  return <NoteCard {...data} size={{ width, height }} />;
});
