'use client';
import dynamic from 'next/dynamic';
import { type KeyboardEvent, type PointerEvent, type ReactNode, useId, useRef, useState } from 'react';
import { cx } from './classes.ts';
import { SelectTrigger } from './select-trigger.tsx';
import { useLoadedEarly, useOpened } from './use-opened.ts';

export type SelectOption<V extends string> = { value: V; label: ReactNode; hint?: string };

const loadList = () => import('./select-list.tsx');
const SelectList = dynamic(() => loadList().then(module => module.SelectList), { ssr: false });

const openingKeys = [' ', 'Enter', 'ArrowUp', 'ArrowDown'];

/** Selects from a short list. Set `label` if there is no `Field` around it. */
export function Select<V extends string>({
  value,
  options,
  onChange,
  label,
  placeholder,
  disabled,
  size = 'md',
  className,
}: {
  value: V | undefined;
  options: readonly SelectOption<V>[];
  onChange: (value: V) => void;
  label?: string;
  placeholder?: string;
  disabled?: boolean;
  size?: 'sm' | 'md';
  className?: string;
}) {
  const trigger = useRef<HTMLButtonElement>(null);
  const listId = useId();
  const [open, setOpen] = useState(false);
  useLoadedEarly(loadList);
  const hasList = useOpened(open);
  const chosen = options.find(option => option.value === value);
  // A touch that scrolls starts with a press, so only a mouse press opens the list.
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0 || event.ctrlKey || event.pointerType !== 'mouse') return;
    event.preventDefault();
    setOpen(true);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const isLetter = event.key.length === 1 && !event.ctrlKey && !event.altKey && !event.metaKey;
    if (!openingKeys.includes(event.key) && !isLetter) return;
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
        aria-autocomplete="none"
        onPointerDown={onPointerDown}
        onClick={() => setOpen(true)}
        onKeyDown={onKeyDown}
        className={cx('data-placeholder:text-faint', className)}
      />
      {hasList ? (
        <SelectList
          id={listId}
          trigger={trigger}
          open={open}
          onOpenChange={setOpen}
          value={value}
          options={options}
          onChange={next => onChange(next as V)}
        />
      ) : null}
    </>
  );
}
