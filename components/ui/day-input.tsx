'use client';
import { useId } from 'react';
import { DateField } from './date-field.tsx';

/** A field for a day, with its label in front; an invalid day is shown as empty. */
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
      <DateField id={id} value={value} onChange={onChange} className="w-36 max-sm:w-full" />
    </div>
  );
}
