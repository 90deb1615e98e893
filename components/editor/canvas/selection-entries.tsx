'use client';
import {
  AlignCenterHorizontal,
  AlignCenterVertical,
  AlignEndHorizontal,
  AlignEndVertical,
  AlignHorizontalDistributeCenter,
  AlignStartHorizontal,
  AlignStartVertical,
  AlignVerticalDistributeCenter,
  Combine,
  type LucideIcon,
  Repeat,
  Split,
  Ungroup,
} from 'lucide-react';
import { MenuItem, MenuSeparator } from '../../ui/menu.tsx';
import type { Editor } from '../use-editor.ts';
import { type Alignment, minimumFor } from './align.ts';

const icon = 'size-3.5';

const ALIGNMENTS: readonly { to: Alignment; label: string; shortcut: string; icon: LucideIcon }[] = [
  { to: 'left', label: 'Align left edges', shortcut: '⌥ ⇧ ←', icon: AlignStartVertical },
  { to: 'center', label: 'Align in a column', shortcut: '⌥ ⇧ C', icon: AlignCenterVertical },
  { to: 'right', label: 'Align right edges', shortcut: '⌥ ⇧ →', icon: AlignEndVertical },
  { to: 'top', label: 'Align top edges', shortcut: '⌥ ⇧ ↑', icon: AlignStartHorizontal },
  { to: 'middle', label: 'Align in a row', shortcut: '⌥ ⇧ M', icon: AlignCenterHorizontal },
  { to: 'bottom', label: 'Align bottom edges', shortcut: '⌥ ⇧ ↓', icon: AlignEndHorizontal },
  { to: 'across', label: 'Distribute across', shortcut: '⌥ ⇧ H', icon: AlignHorizontalDistributeCenter },
  { to: 'down', label: 'Distribute down', shortcut: '⌥ ⇧ V', icon: AlignVerticalDistributeCenter },
];

type EntriesProps = { editor: Editor; onExtract: () => void };

/** The menu entries for the selected steps: group, ungroup and arrange. */
export function SelectionEntries({ editor, onExtract }: EntriesProps) {
  const { selected, drawing } = editor;
  const [only, ...others] = drawing.steps.filter(({ id }) => selected.has(id));
  if (only === undefined) return null;
  const type = others.length === 0 ? only.type : null;
  return (
    <>
      <MenuItem
        icon={<Repeat aria-hidden className={icon} />}
        shortcut="L"
        onSelect={() => void editor.groupSelected()}
      >
        Group into a loop
      </MenuItem>
      {type === 'for_each' ? (
        <MenuItem
          icon={<Ungroup aria-hidden className={icon} />}
          shortcut="⇧ L"
          onSelect={() => void editor.dissolveSelected()}
        >
          Ungroup the loop
        </MenuItem>
      ) : null}
      {type === 'call_workflow' ? (
        <MenuItem icon={<Combine aria-hidden className={icon} />} shortcut="X" onSelect={onExtract}>
          Replace by the workflow's steps
        </MenuItem>
      ) : (
        <MenuItem icon={<Split aria-hidden className={icon} />} shortcut="X" onSelect={onExtract}>
          Extract a sub-workflow
        </MenuItem>
      )}
      {others.length === 0 ? null : (
        <>
          <MenuSeparator />
          {ALIGNMENTS.filter(({ to }) => selected.size >= minimumFor(to)).map(({ to, label, shortcut, icon: Icon }) => (
            <MenuItem
              key={to}
              icon={<Icon aria-hidden className={icon} />}
              shortcut={shortcut}
              onSelect={() => editor.alignSelected(to)}
            >
              {label}
            </MenuItem>
          ))}
        </>
      )}
    </>
  );
}
