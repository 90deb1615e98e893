'use client';
import { CalendarDays } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import { isDay } from './calendar-day.ts';
import { PickerField } from './picker-field.tsx';

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
  const [typed, setTyped] = useState({ text: day, day });
  // A day that was chosen elsewhere replaces the typed text.
  const text = typed.day === day ? typed.text : day;
  const change = (next: string) => {
    const trimmed = next.trim();
    const entered = trimmed === '' || isDay(trimmed) ? trimmed : day;
    setTyped({ text: next, day: entered });
    if (entered !== day) onChange(entered);
  };
  return (
    <PickerField
      {...(id ? { id } : {})}
      value={text}
      onChange={change}
      placeholder="YYYY-MM-DD"
      maxLength={10}
      isWrong={text.trim() !== '' && !isDay(text.trim())}
      choose="Choose a day"
      icon={CalendarDays}
      load={loadCalendar}
      className={className}
    >
      {list => (
        <Calendar
          {...list}
          chosen={day}
          onChoose={next => {
            change(next);
            list.onOpenChange(false);
          }}
        />
      )}
    </PickerField>
  );
}
