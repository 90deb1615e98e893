'use client';
import { Clock } from 'lucide-react';
import dynamic from 'next/dynamic';
import { type KeyboardEvent, useId, useRef, useState } from 'react';
import { IconButton } from './button.tsx';
import { cx } from './classes.ts';
import { Input } from './field.tsx';
import { isTimeOfDay } from './time-of-day.ts';
import { useLoadedEarly, useOpened } from './use-opened.ts';

const loadTimes = () => import('./time-list.tsx');
const TimeList = dynamic(() => loadTimes().then(module => module.TimeList), { ssr: false });

type TimeInputProps = {
  /** The accessible name, if there is no `Field` around it. */
  label?: string;
  /** Written "08:30", or as another client wrote it. */
  value: string;
  onChange: (time: string) => void;
  className?: string;
};

/** A field for a time of day, typed or chosen from a list. It looks the same in every browser and language. */
export function TimeInput({ label, value, onChange, className }: TimeInputProps) {
  // Its own id, because another control beside it has the id of the `Field`.
  const id = useId();
  const [isLeft, setIsLeft] = useState(true);
  const box = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  useLoadedEarly(loadTimes);
  const hasList = useOpened(open);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowDown') return;
    event.preventDefault();
    setOpen(true);
  };
  return (
    <div ref={box} className={cx('relative', className)}>
      <Input
        {...(label ? { id, 'aria-label': label } : {})}
        value={value}
        placeholder="HH:MM"
        autoComplete="off"
        maxLength={32}
        {...(isLeft && value !== '' && !isTimeOfDay(value) ? { 'aria-invalid': true } : {})}
        onChange={event => onChange(event.target.value.trim())}
        onKeyDown={onKeyDown}
        onFocus={() => setIsLeft(false)}
        onBlur={() => setIsLeft(true)}
        className="pr-8 tabular-nums"
      />
      <IconButton
        label="Choose a time"
        tooltip={false}
        size="sm"
        aria-haspopup="dialog"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="absolute top-0.5 right-0.5 focus-visible:-outline-offset-2"
      >
        <Clock aria-hidden className="size-3.5" />
      </IconButton>
      {hasList ? (
        <TimeList
          anchor={box}
          open={open}
          onOpenChange={setOpen}
          chosen={value}
          onChoose={next => {
            onChange(next);
            setOpen(false);
          }}
        />
      ) : null}
    </div>
  );
}
