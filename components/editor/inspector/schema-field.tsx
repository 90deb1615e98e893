'use client';
import { Checkbox, Field, Input, Textarea } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { fieldText } from '../step-fields.ts';
import { ArgumentsField } from './arguments-field.tsx';
import { CodeField, JsonField, type SchemaFieldProps, useTyped } from './code-field.tsx';
import { InstanceField, ModelField, ToolField } from './pickers.tsx';

/** One field of a step, by what its schema says of it. */
export function SchemaField(props: SchemaFieldProps) {
  const { field, value, onChange, problem, readOnly } = props;
  const { label, hint, required } = field;
  switch (field.kind) {
    case 'lua':
    case 'cel':
    case 'long':
      return <CodeField {...props} text={typeof value === 'string' ? value : fieldText('json', value)} />;
    case 'json':
      return <JsonField {...props} />;
    case 'instance':
      return <InstanceField {...props} />;
    case 'tool':
      return <ToolField key={String(props.step.instance_id)} {...props} />;
    case 'arguments':
      return <ArgumentsField key={`${props.step.instance_id}/${props.step.tool_name}`} {...props} />;
    case 'model':
      return <ModelField {...props} />;
    case 'flag':
      return (
        <Checkbox
          label={label}
          hint={hint}
          checked={value === true}
          disabled={readOnly}
          onCheckedChange={checked => onChange(checked ? true : undefined)}
        />
      );
    case 'choice':
      return (
        <Field label={label} hint={hint} error={problem} optional={!required}>
          <Select
            value={typeof value === 'string' ? value : ''}
            disabled={readOnly}
            onChange={next => onChange(next === '' ? undefined : next)}
            options={[
              ...(required ? [] : [{ value: '', label: 'Default' }]),
              ...field.choices.map(choice => ({ value: choice, label: choice })),
            ]}
          />
        </Field>
      );
    case 'text':
      return (
        <Field label={label} hint={hint} error={problem} required={required} optional={!required}>
          <Input
            value={typeof value === 'string' ? value : ''}
            readOnly={readOnly}
            onChange={event => onChange(event.target.value === '' && !required ? undefined : event.target.value)}
          />
        </Field>
      );
    case 'number':
    case 'list':
      return <TypedField {...props} />;
  }
}

function TypedField(props: SchemaFieldProps) {
  const { field, readOnly } = props;
  const { text, type, error } = useTyped(props);
  const hint = field.kind === 'list' ? `${field.hint ? `${field.hint}. ` : ''}One to a line.` : field.hint;
  return (
    <Field label={field.label} hint={hint} error={error} required={field.required} optional={!field.required}>
      {field.kind === 'number' ? (
        <Input inputMode="decimal" value={text} readOnly={readOnly} onChange={event => type(event.target.value)} />
      ) : (
        <Textarea rows={2} value={text} readOnly={readOnly} onChange={event => type(event.target.value)} />
      )}
    </Field>
  );
}
