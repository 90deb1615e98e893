'use client';
import { Clock } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useId } from 'react';
import { PickerField } from './picker-field.tsx';
import { isTimeOfDay } from './time-of-day.ts';

const loadTimes = () => import('./time-list.tsx');
const TimeList = dynamic(() => loadTimes().then(module => module.TimeList), { ssr: false });

type TimeInputProps = {
  /** The accessible name, if there is no `Field` around it. */
  label?: string;
  /** A time such as "08:30", or any text from another client. */
  value: string;
  onChange: (time: string) => void;
  className?: string;
};

/** A field for a time of day, typed or chosen from a list. It looks the same in every browser and language. */
export function TimeInput({ label, value, onChange, className }: TimeInputProps) {
  // A separate id, because another control beside this one has the id of the `Field`.
  const id = useId();
  return (
    <PickerField
      {...(label ? { id, 'aria-label': label } : {})}
      value={value}
      onChange={text => onChange(text.trim())}
      placeholder="HH:MM"
      maxLength={32}
      isWrong={value !== '' && !isTimeOfDay(value)}
      choose="Choose a time"
      icon={Clock}
      load={loadTimes}
      className={className}
    >
      {list => (
        <TimeList
          {...list}
          chosen={value}
          onChoose={next => {
            onChange(next);
            list.onOpenChange(false);
          }}
        />
      )}
    </PickerField>
  );
}
