'use client';
import { useState } from 'react';
import { Field, Input } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';
import { inSeconds, inUnit, TIME_UNITS, type TimeUnit } from './time-limit.ts';

type Limit = { timeout_s: number | undefined; on_timeout: string | undefined };
type Props = {
  limit: Limit;
  problem: string | undefined;
  readOnly: boolean;
  onChange: (change: Partial<Limit>) => void;
};

const UNITS = TIME_UNITS.map(unit => ({ value: unit, label: `${unit.charAt(0).toUpperCase()}${unit.slice(1)}` }));
const ENDS = [
  { value: 'fail', label: 'The step fails' },
  { value: 'approve', label: 'It counts as approved' },
  { value: 'reject', label: 'It counts as rejected' },
];

/** How long a task waits for an answer, and what follows then. */
export function TimeLimitFields({ limit, problem, readOnly, onChange }: Props) {
  const { timeout_s: seconds, on_timeout: end } = limit;
  const [unit, setUnit] = useState<TimeUnit>(() => (seconds === undefined ? 'hours' : inUnit(seconds).unit));
  const [typed, setTyped] = useState(() => (seconds === undefined ? '' : String(inUnit(seconds).amount)));
  // Undone, or changed elsewhere.
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
    const read = inSeconds(text, next);
    // What follows is nothing without a limit.
    onChange({ timeout_s: read, ...(read === undefined ? { on_timeout: undefined } : {}) });
  };
  const isRefused = shown.text.trim() !== '' && inSeconds(shown.text, shown.unit) === undefined;
  return (
    <div className="flex flex-col gap-3">
      <div className="grid grid-cols-2 items-end gap-2">
        <Field label="Time limit" optional error={isRefused ? 'Enter a number above 0.' : problem}>
          <Input
            inputMode="decimal"
            value={shown.text}
            placeholder="None"
            readOnly={readOnly}
            onChange={event => change(event.target.value, shown.unit)}
          />
        </Field>
        <Select
          label="Unit of the time limit"
          value={shown.unit}
          options={UNITS}
          disabled={readOnly}
          onChange={next => change(shown.text, next)}
        />
      </div>
      {seconds === undefined && end === undefined ? null : (
        <Field label="When the time is up">
          <Select
            value={end ?? 'fail'}
            options={ENDS}
            disabled={readOnly}
            onChange={next => onChange({ on_timeout: next === 'fail' ? undefined : next })}
          />
        </Field>
      )}
    </div>
  );
}
