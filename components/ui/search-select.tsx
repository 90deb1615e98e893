'use client';
import { ChevronDown } from 'lucide-react';
import dynamic from 'next/dynamic';
import { type KeyboardEvent, useId, useRef, useState } from 'react';
import { cx } from './classes.ts';
import { controlClass, useFieldProps } from './field.tsx';
import { useLoadedEarly, useOpened } from './use-opened.ts';

export type SearchOption = { value: string; label: string; hint?: string };

const loadList = () => import('./search-select-list.tsx');
const SearchSelectList = dynamic(() => loadList().then(module => module.SearchSelectList), { ssr: false });

type SearchSelectProps = {
  value: string | undefined;
  options: readonly SearchOption[];
  onChange: (value: string) => void;
  /** The accessible name, if there is no `Field` around it. */
  label?: string;
  placeholder?: string;
  size?: 'sm' | 'md';
  disabled?: boolean;
  className?: string;
};

/** Selects from a long list by typing. For a short list, use `Select`. */
export function SearchSelect(props: SearchSelectProps) {
  const { value, options, onChange, label, placeholder, size = 'md', disabled, className } = props;
  const field = useFieldProps();
  const trigger = useRef<HTMLButtonElement>(null);
  const listId = useId();
  const [open, setOpen] = useState(false);
  useLoadedEarly(loadList);
  const hasList = useOpened(open);
  const chosen = options.find(option => option.value === value);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    event.preventDefault();
    setOpen(true);
  };
  return (
    <>
      <button
        type="button"
        role="combobox"
        {...field}
        ref={trigger}
        disabled={disabled}
        aria-label={label}
        aria-haspopup="dialog"
        aria-expanded={open}
        aria-controls={open ? listId : undefined}
        onClick={() => setOpen(!open)}
        onKeyDown={onKeyDown}
        className={cx(
          controlClass,
          'flex items-center justify-between gap-2 text-left',
          size === 'sm' ? 'h-7 text-xs' : 'h-8',
          className,
        )}
      >
        <span className={cx('truncate', !chosen && 'text-muted')}>{chosen?.label ?? placeholder}</span>
        <ChevronDown aria-hidden className="size-3.5 shrink-0 text-faint" />
      </button>
      {hasList ? (
        <SearchSelectList
          id={listId}
          label={label ?? placeholder ?? 'Options'}
          trigger={trigger}
          open={open}
          onOpenChange={setOpen}
          value={value}
          options={options}
          onChange={onChange}
        />
      ) : null}
    </>
  );
}
