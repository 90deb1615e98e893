'use client';
import dynamic from 'next/dynamic';
import { type KeyboardEvent, useId, useRef, useState } from 'react';
import { cx } from './classes.ts';
import { SelectTrigger } from './select-trigger.tsx';
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

/** Selects from a long list with a search. For a short list, use `Select`. */
export function SearchSelect(props: SearchSelectProps) {
  const { value, options, onChange, label, placeholder, size = 'md', disabled, className } = props;
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
      <SelectTrigger
        ref={trigger}
        list={listId}
        open={open}
        size={size}
        chosen={chosen?.label}
        placeholder={placeholder}
        disabled={disabled}
        aria-label={label}
        aria-haspopup="dialog"
        onClick={() => setOpen(!open)}
        onKeyDown={onKeyDown}
        className={cx('data-placeholder:text-muted', className)}
      />
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
