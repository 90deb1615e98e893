'use client';
import { useRef } from 'react';
import type { Json } from '../../../../server/domains/workflows/edits/index.ts';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { Field } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';
import type { CompletionSource } from '../../code/completion.ts';
import { explained } from '../../inspector/field-help.tsx';
import type { StepFormProps } from '../../inspector/step-forms.ts';
import { FieldMessages } from '../field-message.tsx';
import { KeyValueTable } from './key-value-table.tsx';
import { rowsOf } from './key-values.ts';
import { MultipartTable, partsOf } from './multipart-table.tsx';

const KINDS = ['none', 'body', 'form', 'text', 'multipart'] as const;
type BodyKind = (typeof KINDS)[number];
const LABELS: Readonly<Record<BodyKind, string>> = {
  none: 'None',
  body: 'JSON',
  form: 'Form (URL encoded)',
  text: 'Text',
  multipart: 'Form with files (multipart)',
};
const STARTS: Readonly<Record<Exclude<BodyKind, 'none'>, Json>> = {
  body: {},
  form: {},
  text: '',
  multipart: [{ name: 'file', value: '' }],
};
const BODIES = ['body', 'form', 'text', 'multipart'] as const;

/** Returns the kind of body that a step has. If a step has several bodies, the server reports the problem. */
export const bodyKindOf = (step: StepFormProps['step']): BodyKind =>
  BODIES.find(kind => step[kind] !== undefined) ?? 'none';

type Props = StepFormProps & { completion: CompletionSource | undefined };

/** The body of the request, with an editor for each kind. Switching back to a kind restores its text. */
export function BodyTab(props: Props) {
  const { step, set, readOnly, problemOf } = props;
  const kind = bodyKindOf(step);
  const former = useRef(new Map<BodyKind, Json>());
  const choose = (next: BodyKind) => {
    const present = step[kind];
    if (kind !== 'none' && present !== undefined) former.current.set(kind, present);
    const others = Object.fromEntries(BODIES.map(name => [name, undefined]));
    if (next === 'none') return set({ ...others, body_with_get: undefined });
    const sendsNone = (step.method ?? 'GET') === 'GET' && step.body_with_get !== true;
    set({
      ...others,
      [next]: former.current.get(next) ?? STARTS[next],
      // A GET request has no body, so the method becomes POST.
      ...(sendsNone && kind === 'none' ? { method: 'POST' } : {}),
    });
  };
  return (
    <>
      <Field label="Kind of body">
        <Select
          value={kind}
          disabled={readOnly}
          options={KINDS.map(value => ({ value, label: LABELS[value] }))}
          onChange={choose}
        />
      </Field>
      <BodyEditor {...props} kind={kind} />
      {kind !== 'none' && (step.method ?? 'GET') === 'GET' ? (
        <Checkbox
          label="Send the body with GET"
          {...explained('Some servers expect a body with GET, such as those for searches.', 'Send the body with GET')}
          checked={step.body_with_get === true}
          disabled={readOnly}
          onCheckedChange={checked => set({ body_with_get: checked ? true : undefined })}
        />
      ) : null}
      <FieldMessages of={problemOf} names={kind === 'body' || kind === 'text' ? ['form', 'multipart'] : [...BODIES]} />
    </>
  );
}

function BodyEditor({ kind, ...props }: Props & { kind: BodyKind }) {
  const { step, set, draw, readOnly, completion } = props;
  switch (kind) {
    case 'none':
      return null;
    case 'body':
    case 'text':
      return draw(kind);
    case 'form':
      return rowsOf(step.form) === null ? (
        draw('form')
      ) : (
        <KeyValueTable
          step={step.id}
          noun="Field"
          placeholder="Name"
          repeats
          value={step.form}
          readOnly={readOnly}
          completion={completion}
          // A form without fields is still a form body.
          onChange={form => set({ form: form ?? {} })}
        />
      );
    case 'multipart':
      return partsOf(step.multipart) === null ? draw('multipart') : <MultipartTable {...props} />;
  }
}
