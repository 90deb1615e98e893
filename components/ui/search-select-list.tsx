'use client';
import { Command } from 'cmdk';
import { Check } from 'lucide-react';
import { type RefObject, useMemo, useState } from 'react';
import { cx } from './classes.ts';
import { matchScore } from './matching.ts';
import { PickerPopover } from './picker-popover.tsx';
import type { SearchOption } from './search-select.tsx';

/** The maximum number of options that are shown: more would take long to render, and people search instead of reading them. */
const MAX_SHOWN = 100;

type ListProps = {
  id: string;
  label: string;
  trigger: RefObject<HTMLElement | null>;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  value: string | undefined;
  options: readonly SearchOption[];
  onChange: (value: string) => void;
};

/** The list of a `SearchSelect`, beneath its box. */
export function SearchSelectList({ id, label, trigger, open, onOpenChange, ...list }: ListProps) {
  return (
    <PickerPopover
      anchor={trigger}
      open={open}
      onOpenChange={onOpenChange}
      id={id}
      label={label}
      asWide
      className="w-72 max-w-[calc(100vw-16px)] overflow-hidden"
    >
      <Options label={label} {...list} onDone={() => onOpenChange(false)} />
    </PickerPopover>
  );
}

type OptionsProps = Pick<ListProps, 'label' | 'value' | 'options' | 'onChange'> & { onDone: () => void };

function Options({ label, value, options, onChange, onDone }: OptionsProps) {
  const [search, setSearch] = useState('');
  const found = useMemo(
    () =>
      search.trim() === ''
        ? options
        : options
            .map(option => ({ option, score: matchScore(option.label, search) }))
            .filter(({ score }) => score > 0)
            .sort((a, b) => b.score - a.score)
            .map(({ option }) => option),
    [options, search],
  );
  const more = found.length - MAX_SHOWN;
  return (
    <Command label={label} shouldFilter={false} loop defaultValue={value}>
      <Command.Input
        autoFocus
        value={search}
        onValueChange={setSearch}
        placeholder="Search"
        className="h-9 w-full border-b bg-transparent px-3 text-sm outline-none"
      />
      <Command.List className="max-h-72 overflow-y-auto p-1" tabIndex={-1}>
        <Command.Empty className="px-3 py-4 text-center text-sm text-muted">Nothing found.</Command.Empty>
        {found.slice(0, MAX_SHOWN).map(option => (
          <Command.Item
            key={option.value}
            value={option.value || 'none'}
            onSelect={() => {
              onChange(option.value);
              onDone();
            }}
            className="flex cursor-default items-center gap-2 rounded-md px-2 py-1.5 text-sm select-none data-[selected=true]:bg-hover"
          >
            <Check aria-hidden className={cx('size-3.5 shrink-0', option.value !== value && 'invisible')} />
            <span className="truncate">{option.label}</span>
            {option.hint ? <span className="ml-auto truncate text-xs text-muted">{option.hint}</span> : null}
          </Command.Item>
        ))}
        {more > 0 ? <p className="px-3 py-2 text-xs text-muted">and {more} more: type to find them</p> : null}
      </Command.List>
    </Command>
  );
}
