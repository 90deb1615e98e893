'use client';
import { type Node, type NodeProps, NodeResizeControl } from '@xyflow/react';
import { memo } from 'react';
import { cx } from '../../ui/classes.ts';
import { LazyMarkdown } from '../../ui/lazy-markdown.tsx';
import { useCanvasActions } from '../canvas/canvas-actions.tsx';
import { type DrawnNote, MAX_NOTE, MIN_NOTE, type NoteColor, noteNodeId } from './note-actions.ts';

export type NoteFlowNode = Node<{ note: string; text: string; color: NoteColor; editable: boolean }, 'note'>;

const looks: Readonly<Record<NoteColor, string>> = {
  yellow: 'bg-warn-soft border-warn/40',
  blue: 'bg-info-soft border-info/40',
  green: 'bg-ok-soft border-ok/40',
  red: 'bg-bad-soft border-bad/40',
  gray: 'bg-surface border-line-strong/60',
};

/** Returns a note as React Flow draws it: beneath the steps. */
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
    ariaLabel: `Note: ${text.trim() === '' ? 'empty' : text.slice(0, 80)}`,
    data: { note: id, text, color, editable: state.editable },
  };
}

/** A note on the canvas: Markdown for people. It can be dragged, and made larger at its corner. */
export const NoteNode = memo(function NoteNode({ data, selected, width, height }: NodeProps<NoteFlowNode>) {
  const { resizeNote } = useCanvasActions();
  const { note, text, color, editable } = data;
  return (
    <div
      style={{ width, height }}
      data-note={note}
      className={cx('overflow-hidden rounded-md border p-3 text-text', looks[color], selected && 'ring-2 ring-accent')}
    >
      {text.trim() === '' ? <p className="text-sm text-muted">Empty note</p> : <LazyMarkdown text={text} />}
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
    </div>
  );
});
