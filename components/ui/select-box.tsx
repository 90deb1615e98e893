'use client';
import type { Selection } from './use-selection.ts';

/** The name of the checkbox column. */
export const SELECT = 'Select';

/** The checkbox that selects all rows of a list. */
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

/**
 * A checkbox that selects a row. It is a native checkbox, because Radix's would add 6 KiB to the first load of the
 * list.
 */
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
