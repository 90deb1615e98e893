'use client';
import { useId } from 'react';
import { Input } from './field.tsx';

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Whether it is a day of the calendar, written "2026-03-09". */
export function isDay(text: string): boolean {
  if (!DAY.test(text)) return false;
  const midnight = Date.parse(`${text}T00:00:00.000Z`);
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(text);
}

/** A day, with its label before it; what is no day is shown as none. */
export function DayInput({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string;
  onChange: (day: string) => void;
}) {
  const id = useId();
  return (
    <div className="flex items-center gap-x-1.5 gap-y-0.5 text-xs text-muted max-sm:flex-col max-sm:items-start">
      <label htmlFor={id}>{label}</label>
      <Input
        id={id}
        type="date"
        value={isDay(value) ? value : ''}
        onChange={event => onChange(event.target.value)}
        className="w-36 max-sm:w-full"
      />
    </div>
  );
}
