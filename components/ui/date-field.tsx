'use client';
import { CalendarDays } from 'lucide-react';
import dynamic from 'next/dynamic';
import { type KeyboardEvent, useRef, useState } from 'react';
import { IconButton } from './button.tsx';
import { isDay } from './calendar-day.ts';
import { cx } from './classes.ts';
import { Input } from './field.tsx';
import { useLoadedEarly, useOpened } from './use-opened.ts';

const loadCalendar = () => import('./calendar.tsx');
const Calendar = dynamic(() => loadCalendar().then(module => module.CalendarPopover), { ssr: false });

type DateFieldProps = {
  /** Written "2026-03-09"; an invalid day is shown as empty. */
  value: string;
  /** Called with a day, or with an empty string if the field is emptied. */
  onChange: (day: string) => void;
  id?: string;
  className?: string;
};

/** A field for a day, typed or chosen from a calendar. It looks the same in every browser and language. */
export function DateField({ value, onChange, id, className }: DateFieldProps) {
  const day = isDay(value) ? value : '';
  const [typed, setTyped] = useState({ text: day, of: day });
  const [isLeft, setIsLeft] = useState(true);
  const box = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  useLoadedEarly(loadCalendar);
  const hasCalendar = useOpened(open);
  // A day that was chosen elsewhere replaces the typed text.
  const text = typed.of === day ? typed.text : day;
  const change = (next: string) => {
    const trimmed = next.trim();
    const entered = trimmed === '' || isDay(trimmed) ? trimmed : day;
    setTyped({ text: next, of: entered });
    if (entered !== day) onChange(entered);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowDown') return;
    event.preventDefault();
    setOpen(true);
  };
  const isWrong = isLeft && text.trim() !== '' && !isDay(text.trim());
  return (
    <div ref={box} className={cx('relative', className)}>
      <Input
        {...(id ? { id } : {})}
        value={text}
        placeholder="YYYY-MM-DD"
        autoComplete="off"
        maxLength={10}
        {...(isWrong ? { 'aria-invalid': true } : {})}
        onChange={event => change(event.target.value)}
        onKeyDown={onKeyDown}
        onFocus={() => setIsLeft(false)}
        onBlur={() => setIsLeft(true)}
        className="pr-8 tabular-nums"
      />
      <IconButton
        label="Choose a day"
        tooltip={false}
        size="sm"
        aria-haspopup="dialog"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="absolute top-0.5 right-0.5 focus-visible:-outline-offset-2"
      >
        <CalendarDays aria-hidden className="size-3.5" />
      </IconButton>
      {hasCalendar ? (
        <Calendar
          anchor={box}
          open={open}
          onOpenChange={setOpen}
          chosen={day}
          onChoose={next => {
            change(next);
            setOpen(false);
          }}
        />
      ) : null}
    </div>
  );
}
