'use client';
import { Search } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useHotkeys } from '../shell/use-hotkeys.ts';
import { cx } from './classes.ts';
import { Input } from './field.tsx';

/** A filter by text: `/` focuses it, and it reports after typing has stood still for 250 ms. */
export function SearchInput({
  value,
  onChange,
  label,
  wide = false,
}: {
  value: string;
  onChange: (value: string) => void;
  label: string;
  /** Takes the width it is given, not its own. */
  wide?: boolean;
}) {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  const report = useRef(onChange);
  report.current = onChange;
  useHotkeys({ '/': () => input.current?.focus() });
  // The URL changes from elsewhere too (Back, "clear filters").
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => report.current(text), 250);
    return () => clearTimeout(timer);
  }, [text, value]);
  return (
    <div className={cx('relative w-full', !wide && 'sm:w-64')}>
      <Search aria-hidden className="pointer-events-none absolute top-2.5 left-2.5 size-3.5 text-faint" />
      <Input
        ref={input}
        type="search"
        aria-label={label}
        placeholder={label}
        value={text}
        onChange={event => setText(event.target.value)}
        onKeyDown={event => event.key === 'Escape' && event.currentTarget.blur()}
        className="pl-8"
      />
    </div>
  );
}
