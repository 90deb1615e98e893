'use client';
import type { Selection } from './use-selection.ts';

/** The name of the column of boxes. */
export const SELECT = 'Select';

/** The box over the boxes of a list. */
export function SelectAll({ label, selection, ids }: { label: string; selection: Selection; ids: readonly string[] }) {
  const all = ids.length > 0 && ids.every(id => selection.ids.has(id));
  return (
    <SelectBox
      label={label}
      checked={all}
      disabled={ids.length === 0}
      onChange={checked => selection.set(ids, checked)}
    />
  );
}

type BoxProps = { label: string; checked: boolean; disabled: boolean; onChange: (checked: boolean) => void };

/** A box that selects a row. The browser's own: Radix' would be 6 KiB of what the list loads first. */
export function SelectBox({ label, checked, disabled, onChange }: BoxProps) {
  return (
    <input
      type="checkbox"
      aria-label={label}
      checked={checked}
      disabled={disabled}
      onChange={event => onChange(event.target.checked)}
      className="block size-4 accent-accent disabled:opacity-55"
    />
  );
}
