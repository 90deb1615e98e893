'use client';
import { useState } from 'react';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { Field, Input } from '../../../ui/field.tsx';
import { explained } from '../../inspector/field-help.tsx';
import type { StepFormProps } from '../../inspector/step-forms.ts';
import { FieldMessages } from '../field-message.tsx';
import { expectText, readExpected } from './expected-statuses.ts';

/** The options for the response and for the call itself. Controls without a setting show the default. */
export function OptionsTab({ step, set, draw, readOnly, problemOf }: StepFormProps) {
  return (
    <>
      <Checkbox
        label="Follow redirects"
        hint="At most 5."
        checked={step.follow_redirects !== false}
        disabled={readOnly}
        onCheckedChange={checked => set({ follow_redirects: checked ? undefined : false })}
      />
      <ExpectedField step={step} set={set} readOnly={readOnly} problem={problemOf('expect', 'error')} />
      {draw('response')}
      {draw('on_lost')}
      <FieldMessages of={problemOf} names={['follow_redirects']} />
    </>
  );
}

type ExpectedProps = Pick<StepFormProps, 'step' | 'set' | 'readOnly'> & { problem: string | undefined };

function ExpectedField({ step, set, readOnly, problem }: ExpectedProps) {
  const [typed, setTyped] = useState(() => expectText(step.expect));
  const read = readExpected(typed);
  const isCurrent = read === null || JSON.stringify(read) === JSON.stringify(step.expect);
  const shown = isCurrent ? typed : expectText(step.expect);
  const type = (text: string) => {
    setTyped(text);
    const next = readExpected(text);
    if (next !== null) set({ expect: next });
  };
  return (
    <Field
      label="Successful statuses"
      {...explained('Statuses that do not fail the step, such as 2xx, 404. Default: 2xx.', 'Successful statuses')}
      error={readExpected(shown) === null ? 'Not saved yet: write statuses such as 2xx, 404.' : problem}
    >
      <Input value={shown} placeholder="2xx" readOnly={readOnly} onChange={event => type(event.target.value)} />
    </Field>
  );
}
