'use client';
import { Copy, Ellipsis, Repeat, Split, Trash2 } from 'lucide-react';
import { IconButton } from '../../ui/button.tsx';
import { Menu } from '../../ui/menu.tsx';
import type { Editor } from '../use-editor.ts';
import { SelectionEntries } from './selection-entries.tsx';

type BarProps = { editor: Editor; onExtract: () => void };

/** The toolbar for several selected steps. The actions for a single step are in its menu and in its form. */
export function SelectionBar({ editor, onExtract }: BarProps) {
  const { selected, drawing } = editor;
  const steps = drawing.steps.filter(({ id }) => selected.has(id));
  if (steps.length < 2) return null;
  return (
    <div
      role="toolbar"
      aria-label="Selection"
      className="absolute bottom-3 left-1/2 z-5 flex -translate-x-1/2 items-center gap-0.5 rounded-lg border bg-surface p-1 shadow-sm"
    >
      <span className="px-2 text-xs whitespace-nowrap text-muted tabular-nums">{steps.length} steps</span>
      <IconButton label="Group into a loop" shortcut="L" onClick={() => void editor.groupSelected()}>
        <Repeat aria-hidden className="size-4" />
      </IconButton>
      <IconButton label="Extract a sub-workflow" shortcut="X" onClick={onExtract}>
        <Split aria-hidden className="size-4" />
      </IconButton>
      <IconButton label="Duplicate" shortcut="⌘ D" onClick={editor.duplicateSelected}>
        <Copy aria-hidden className="size-4" />
      </IconButton>
      <IconButton label="Delete" shortcut="⌫" onClick={editor.removeSelected}>
        <Trash2 aria-hidden className="size-4" />
      </IconButton>
      <Menu
        align="end"
        side="top"
        trigger={
          <IconButton label="More for the selection">
            <Ellipsis aria-hidden className="size-4" />
          </IconButton>
        }
      >
        <SelectionEntries editor={editor} onExtract={onExtract} />
      </Menu>
    </div>
  );
}
