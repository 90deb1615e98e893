'use client';
import { useState } from 'react';
import { Field, Input } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';
import { useCompletion } from '../../code/use-completion.tsx';
import type { StepFormProps } from '../../inspector/step-forms.ts';
import { FieldMessages } from '../field-message.tsx';
import { LineField } from '../line-field.tsx';
import { amountIn, instantInWords, readAmount, UNITS, type Unit, unitOf } from './wait-length.ts';

type Way = 'length' | 'template' | 'until';
const WAYS: readonly { value: Way; label: string }[] = [
  { value: 'length', label: 'For a length of time' },
  { value: 'template', label: 'For as many seconds as a template gives' },
  { value: 'until', label: 'Until a date and time' },
];

/** The form of a wait step: a duration or an end time. */
export function WaitForm(props: StepFormProps) {
  const { step, set, readOnly, problemOf } = props;
  const completion = useCompletion(step.id, false);
  const way: Way = step.until !== undefined ? 'until' : typeof step.seconds === 'string' ? 'template' : 'length';
  const choose = (next: Way) => {
    if (next === 'until') set({ seconds: undefined, until: '' });
    else set({ until: undefined, seconds: next === 'template' ? '{{input.seconds}}' : 60 });
  };
  const until = typeof step.until === 'string' ? step.until : '';
  return (
    <>
      <Field label="Wait">
        <Select value={way} options={WAYS} disabled={readOnly} onChange={choose} />
      </Field>
      {way === 'length' ? <LengthField {...props} /> : null}
      {way === 'template' ? (
        <LineField
          label="Seconds"
          step={step.id}
          required
          value={String(step.seconds)}
          readOnly={readOnly}
          completion={completion}
          onChange={seconds => set({ seconds })}
        />
      ) : null}
      {way === 'until' ? (
        <LineField
          label="Date and time"
          step={step.id}
          required
          placeholder="2027-01-31T09:00:00Z"
          hint={
            instantInWords(until, Intl.DateTimeFormat().resolvedOptions().timeZone) ??
            'With Z or an offset, or a template'
          }
          value={until}
          readOnly={readOnly}
          completion={completion}
          problem={problemOf('until', 'error')}
          onChange={text => set({ until: text })}
        />
      ) : null}
      <FieldMessages of={problemOf} names={way === 'until' ? ['seconds'] : ['seconds', 'until']} />
    </>
  );
}

function LengthField({ step, set, readOnly }: StepFormProps) {
  const seconds = typeof step.seconds === 'number' ? step.seconds : null;
  const [unit, setUnit] = useState<Unit>(() => unitOf(seconds ?? 0));
  const textIn = (inUnit: Unit) => (seconds === null ? '' : String(amountIn(seconds, inUnit)));
  const [typed, setTyped] = useState(() => textIn(unit));
  const read = readAmount(typed, unit);
  // The value was changed by Undo, or elsewhere.
  const text = read === null || read === seconds ? typed : textIn(unit);
  const changeAmount = (next: string, inUnit: Unit) => {
    setTyped(next);
    setUnit(inUnit);
    const value = readAmount(next, inUnit);
    if (value !== null) set({ seconds: value });
    else if (next.trim() === '') set({ seconds: undefined });
  };
  const isWrong = text.trim() !== '' && readAmount(text, unit) === null;
  return (
    <div className="flex items-start gap-2">
      <Field label="Length" required error={isWrong ? 'Not saved yet: enter a number.' : undefined}>
        <Input
          inputMode="decimal"
          value={text}
          readOnly={readOnly}
          className="w-28"
          onChange={event => changeAmount(event.target.value, unit)}
        />
      </Field>
      <Field label="Unit">
        <Select
          value={unit}
          disabled={readOnly}
          className="w-28"
          options={UNITS.map(each => ({ value: each, label: each }))}
          onChange={next => changeAmount(text, next)}
        />
      </Field>
    </div>
  );
}
