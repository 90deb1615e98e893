import { useState } from 'react';
import { Checkbox } from '../ui/checkbox.tsx';
import { Field, Input, Textarea } from '../ui/field.tsx';
import { fieldText, type InputField, type InputObject, readField } from './run-input.ts';

type FieldsProps = {
  /** True if the first field gets the focus. */
  autoFocus?: boolean;
  fields: readonly InputField[];
  value: InputObject;
  onChange: (value: InputObject) => void;
  onProblem: (problem: string | null) => void;
};

/**
 * Shows a control for each field of an object, in two columns if there is space. Calls `onProblem` with a message while a field's text is
 * invalid, and with null once all are valid.
 */
export function InputFields({ autoFocus = false, fields, value, onChange, onProblem }: FieldsProps) {
  const [texts, setTexts] = useState<Record<string, string>>(() =>
    Object.fromEntries(fields.map(field => [field.name, fieldText(value[field.name])])),
  );
  const [problems, setProblems] = useState<Record<string, string>>({});
  const edit = (field: InputField, text: string) => {
    setTexts({ ...texts, [field.name]: text });
    const read = readField(field, text);
    const { [field.name]: _, ...others } = problems;
    const next = 'problem' in read ? { ...others, [field.name]: read.problem } : others;
    setProblems(next);
    onProblem(Object.keys(next).length > 0 ? 'Some fields are not valid yet.' : null);
    if ('problem' in read) return;
    const { [field.name]: __, ...rest } = value;
    onChange(read.value === undefined ? rest : { ...value, [field.name]: read.value });
  };
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      {fields.map((field, index) =>
        field.kind === 'boolean' ? (
          <Checkbox
            key={field.name}
            label={field.name}
            checked={value[field.name] === true}
            onCheckedChange={checked => onChange({ ...value, [field.name]: checked })}
          />
        ) : (
          <Field key={field.name} label={field.name} error={problems[field.name]}>
            {field.multiline ? (
              <Textarea
                autoFocus={autoFocus && index === 0}
                rows={3}
                value={texts[field.name] ?? ''}
                onChange={event => edit(field, event.target.value)}
                className={field.kind === 'json' ? 'font-mono text-xs' : undefined}
              />
            ) : (
              <Input
                autoFocus={autoFocus && index === 0}
                value={texts[field.name] ?? ''}
                inputMode={field.kind === 'number' ? 'decimal' : undefined}
                onChange={event => edit(field, event.target.value)}
              />
            )}
          </Field>
        ),
      )}
    </div>
  );
}
