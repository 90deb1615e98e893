'use client';
import { Field, Input, Textarea } from '../../ui/field.tsx';
import { type SchemaFieldProps, useTyped } from './code-field.tsx';
import { explained } from './field-help.tsx';

/** A text field for a number or a list. */
export function TypedField(props: SchemaFieldProps) {
  const { field, readOnly } = props;
  const { text, type, error } = useTyped(props);
  const hint = field.kind === 'list' ? `${field.hint ? `${field.hint}. ` : ''}One per line.` : field.hint;
  return (
    <Field label={field.label} {...explained(hint, field.label)} error={error} required={field.required}>
      {field.kind === 'number' ? (
        <Input
          inputMode="decimal"
          className="w-32"
          value={text}
          readOnly={readOnly}
          onChange={event => type(event.target.value)}
        />
      ) : (
        <Textarea rows={2} value={text} readOnly={readOnly} onChange={event => type(event.target.value)} />
      )}
    </Field>
  );
}
