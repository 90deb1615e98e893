'use client';
import {
  Ban,
  Copy,
  FlaskConical,
  LayoutDashboard,
  Map as MapIcon,
  PencilLine,
  Play,
  Plus,
  SquareDashedMousePointer,
  StickyNote,
  Trash2,
} from 'lucide-react';
import dynamic from 'next/dynamic';
import { useRef } from 'react';
import { placeOf } from '../../graph/levels.ts';
import { noteOfNode } from '../../graph/notes.ts';
import { MenuItem, MenuSeparator } from '../../ui/menu.tsx';
import { MenuContent } from '../../ui/menu-content.tsx';
import { useUrlState } from '../../ui/use-url-state.ts';
import type { Place } from '../editor-actions.ts';
import type { Editor } from '../use-editor.ts';

/** The position of the menu in window pixels, and the node or edge under it. Without `node` and `edge`, the canvas itself was clicked. */
export type CanvasMenuAt = { x: number; y: number; node?: string; edge?: { from: string; to: string } };

type MenuProps = {
  at: CanvasMenuAt | null;
  editor: Editor;
  editable: boolean;
  onAdd: (place: Place) => void;
  onAddNote: (() => void) | undefined;
  onInspect: (node: string) => void;
  onExtract: () => void;
  onStart: () => void;
  onToggleMap: () => void;
  onClose: () => void;
};

const SelectionEntries = dynamic(() => import('./selection-entries.tsx').then(module => module.SelectionEntries), {
  ssr: false,
});

const icon = 'size-3.5';

/** The context menu of a step, of a connection or of the canvas. */
export function CanvasMenu(props: MenuProps) {
  const { at, onClose } = props;
  const anchor = useRef<HTMLSpanElement>(null);
  if (at === null) return null;
  return (
    <>
      <span ref={anchor} aria-hidden className="fixed size-px" style={{ left: at.x, top: at.y }} />
      <span id="canvas-menu-name" className="sr-only">
        Actions
      </span>
      <MenuContent
        id="canvas-menu"
        labelledBy="canvas-menu-name"
        trigger={anchor}
        opened="pointer"
        onClose={onClose}
        align="start"
        side="bottom"
      >
        {at.node !== undefined ? (
          <NodeEntries {...props} node={placeOf(at.node).step} />
        ) : at.edge !== undefined ? (
          <EdgeEntries {...props} edge={{ from: placeOf(at.edge.from).step, to: placeOf(at.edge.to).step }} />
        ) : (
          <CanvasEntries {...props} />
        )}
      </MenuContent>
    </>
  );
}

function NodeEntries({ editor, editable, node, onAdd, onInspect, onExtract }: MenuProps & { node: string }) {
  const url = useUrlState();
  const isNote = noteOfNode(node) !== null;
  return (
    <>
      <MenuItem icon={<PencilLine aria-hidden className={icon} />} shortcut="F2" onSelect={() => onInspect(node)}>
        {editable ? (isNote ? 'Edit note' : 'Edit or rename') : 'Show settings'}
      </MenuItem>
      {editable && !isNote ? (
        <>
          <MenuItem icon={<Plus aria-hidden className={icon} />} onSelect={() => onAdd(editor.placeAfter(node))}>
            Add a step after this one
          </MenuItem>
          <MenuItem icon={<FlaskConical aria-hidden className={icon} />} onSelect={() => url.set({ panel: 'test' })}>
            Test this step
          </MenuItem>
          <MenuSeparator />
          <MenuItem icon={<Copy aria-hidden className={icon} />} shortcut="⌘ D" onSelect={editor.duplicateSelected}>
            Duplicate
          </MenuItem>
          <MenuItem icon={<Ban aria-hidden className={icon} />} shortcut="D" onSelect={editor.toggleDisabled}>
            Disable or enable
          </MenuItem>
          <MenuSeparator />
          <SelectionEntries editor={editor} onExtract={onExtract} />
        </>
      ) : null}
      {editable ? (
        <>
          <MenuSeparator />
          <MenuItem
            danger
            icon={<Trash2 aria-hidden className={icon} />}
            shortcut="⌫"
            onSelect={() => editor.removeSelected()}
          >
            Delete
          </MenuItem>
        </>
      ) : null}
    </>
  );
}

function EdgeEntries({ editor, editable, edge, onAdd }: MenuProps & { edge: { from: string; to: string } }) {
  if (!editable) return <MenuItem disabled>This draft cannot be edited</MenuItem>;
  return (
    <>
      <MenuItem icon={<Plus aria-hidden className={icon} />} onSelect={() => onAdd({ kind: 'between', ...edge })}>
        Insert a step
      </MenuItem>
      <MenuItem
        danger
        icon={<Trash2 aria-hidden className={icon} />}
        shortcut="⌫"
        onSelect={() => editor.disconnect(edge.from, edge.to)}
      >
        Delete the connection
      </MenuItem>
    </>
  );
}

function CanvasEntries({ editor, editable, onAdd, onAddNote, onStart, onToggleMap }: MenuProps) {
  return (
    <>
      {editable ? (
        <>
          <MenuItem icon={<Plus aria-hidden className={icon} />} onSelect={() => onAdd({ kind: 'free' })}>
            Add a step
          </MenuItem>
          {onAddNote === undefined ? null : (
            <MenuItem icon={<StickyNote aria-hidden className={icon} />} shortcut="N" onSelect={onAddNote}>
              Add a note
            </MenuItem>
          )}
          <MenuItem icon={<LayoutDashboard aria-hidden className={icon} />} onSelect={editor.layOut}>
            Arrange automatically
          </MenuItem>
          <MenuSeparator />
        </>
      ) : null}
      <MenuItem
        icon={<SquareDashedMousePointer aria-hidden className={icon} />}
        shortcut="⌘ A"
        onSelect={editor.selectAll}
      >
        Select all steps
      </MenuItem>
      <MenuItem icon={<Play aria-hidden className={icon} />} shortcut="S" onSelect={onStart}>
        How it starts
      </MenuItem>
      <MenuItem icon={<MapIcon aria-hidden className={icon} />} shortcut="M" onSelect={onToggleMap}>
        Show or hide the map
      </MenuItem>
    </>
  );
}
