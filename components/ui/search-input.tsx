'use client';
import { Search } from 'lucide-react';
import { useEffect, useId, useRef, useState } from 'react';
import { cx } from './classes.ts';
import { Input } from './field.tsx';
import { ReportedTexts } from './reported-texts.ts';
import { useHotkeys } from './use-hotkeys.ts';

/** A text filter. The key `/` focuses it. It reports the text 250 ms after the last key press. */
export function SearchInput({
  value,
  onChange,
  label,
  hint,
  wide = false,
}: {
  value: string;
  onChange: (value: string) => void;
  label: string;
  /** Explains what can be searched for; shown below the field while it has the focus. */
  hint?: string;
  /** Fills the given width instead of its default width. */
  wide?: boolean;
}) {
  const hintId = useId();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  const report = useRef(onChange);
  report.current = onChange;
  useHotkeys({ '/': () => input.current?.focus() });
  const [reported] = useState(() => new ReportedTexts());
  // The URL can also change in other ways (Back, "clear filters").
  useEffect(() => {
    if (!reported.isReported(value)) setText(value);
  }, [reported, value]);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => {
      reported.report(text);
      report.current(text);
    }, 250);
    return () => clearTimeout(timer);
  }, [reported, text, value]);
  return (
    <div className={cx('group relative col-span-full w-full', !wide && 'sm:w-64')}>
      <Search aria-hidden className="pointer-events-none absolute top-2.5 left-2.5 size-3.5 text-faint" />
      <Input
        ref={input}
        type="search"
        aria-label={label}
        aria-describedby={hint === undefined ? undefined : hintId}
        placeholder={label}
        value={text}
        onChange={event => setText(event.target.value)}
        onKeyDown={event => event.key === 'Escape' && event.currentTarget.blur()}
        className="pl-8"
      />
      {hint === undefined ? null : (
        <p
          id={hintId}
          className="pointer-events-none absolute top-full left-0 z-10 mt-1 hidden w-full rounded-md border bg-surface p-2 text-xs text-muted shadow-pop group-focus-within:block sm:w-72"
        >
          {hint}
        </p>
      )}
    </div>
  );
}
