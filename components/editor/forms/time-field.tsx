'use client';
import { useState } from 'react';
import { Field, type FieldProps, Input } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { inSeconds, inUnit, TIME_UNITS, type TimeUnit } from './time-units.ts';

const UNITS = TIME_UNITS.map(unit => ({ value: unit, label: `${unit.charAt(0).toUpperCase()}${unit.slice(1)}` }));

type Props = Pick<FieldProps, 'help'> & {
  label: string;
  seconds: number | undefined;
  /** Shown while the field is empty. */
  placeholder: string;
  problem: string | undefined;
  readOnly: boolean;
  onChange: (seconds: number | undefined) => void;
};

/** A field for a duration with a unit. An empty field has no duration. */
export function TimeField({ label, help, seconds, placeholder, problem, readOnly, onChange }: Props) {
  const [unit, setUnit] = useState<TimeUnit>(() => (seconds === undefined ? 'hours' : inUnit(seconds).unit));
  const [typed, setTyped] = useState(() => (seconds === undefined ? '' : String(inUnit(seconds).amount)));
  // The value was changed by Undo or elsewhere.
  const isStale = inSeconds(typed, unit) !== seconds && (seconds !== undefined || inSeconds(typed, unit) !== undefined);
  const shown = isStale
    ? {
        text: seconds === undefined ? '' : String(inUnit(seconds).amount),
        unit: seconds === undefined ? unit : inUnit(seconds).unit,
      }
    : { text: typed, unit };
  const change = (text: string, next: TimeUnit) => {
    setTyped(text);
    setUnit(next);
    onChange(inSeconds(text, next));
  };
  const isRefused = shown.text.trim() !== '' && inSeconds(shown.text, shown.unit) === undefined;
  return (
    <div className="grid grid-cols-2 items-end gap-2">
      <Field label={label} help={help} optional error={isRefused ? 'Enter a number above 0.' : problem}>
        <Input
          inputMode="decimal"
          value={shown.text}
          placeholder={placeholder}
          readOnly={readOnly}
          onChange={event => change(event.target.value, shown.unit)}
        />
      </Field>
      <Select
        label={`Unit of the ${label.toLowerCase()}`}
        value={shown.unit}
        options={UNITS}
        disabled={readOnly}
        onChange={next => change(shown.text, next)}
      />
    </div>
  );
}
