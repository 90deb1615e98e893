'use client';
import dynamic from 'next/dynamic';
import { useId, useState } from 'react';
import type { Json } from '../../../server/domains/workflows/edits/index.ts';
import { Checkbox, Field, Input, Textarea } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { fieldText, readFieldText, type StepField } from '../step-fields.ts';
import type { UnfinishedFields } from './unfinished-fields.ts';

const CodeEditor = dynamic(() => import('../code-editor.tsx').then(module => module.CodeEditor), {
  ssr: false,
  loading: () => <Skeleton className="h-18 w-full" />,
});

export type SchemaFieldProps = {
  field: StepField;
  value: Json | undefined;
  /** undefined: the field is left out of the step. */
  onChange: (value: Json | undefined) => void;
  /** What the server finds wrong with it. */
  problem: string | undefined;
  readOnly: boolean;
  unfinished: UnfinishedFields;
  /** Under which unfinished text is kept. */
  id: string;
};

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

/** Reads what is typed; keeps it as it is, and the step as it was, while it cannot be read. */
function useTyped({ field, value, onChange, unfinished, id, problem }: SchemaFieldProps) {
  const [text, setText] = useState(() => unfinished.get(id) ?? fieldText(field.kind, value));
  const read = readFieldText(field, text);
  // Undone, or changed elsewhere.
  const isStale = 'value' in read && fieldText(field.kind, read.value) !== fieldText(field.kind, value);
  const shown = isStale && !unfinished.has(id) ? fieldText(field.kind, value) : text;
  const type = (next: string) => {
    setText(next);
    const result = readFieldText(field, next);
    if ('problem' in result) unfinished.set(id, next);
    else {
      unfinished.delete(id);
      onChange(result.value);
    }
  };
  const own = readFieldText(field, shown);
  return { text: shown, type, error: 'problem' in own ? `Not saved yet: ${own.problem}` : problem };
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

function JsonField(props: SchemaFieldProps) {
  const { text, type, error } = useTyped(props);
  return <CodeField {...props} text={text} problem={error} onChange={next => type(String(next ?? ''))} keepsEmpty />;
}

/** A labelled code editor; a label cannot point to what CodeMirror draws, so that it is named by its own attribute. */
function CodeField({
  field,
  text,
  onChange,
  problem,
  readOnly,
  keepsEmpty = false,
}: SchemaFieldProps & { text: string; keepsEmpty?: boolean }) {
  const id = useId();
  const language = field.kind === 'lua' || field.kind === 'cel' || field.kind === 'json' ? field.kind : 'text';
  return (
    <div className="flex flex-col gap-1">
      <p className="flex items-baseline gap-1.5 text-sm font-medium">
        {field.label}
        {field.required ? null : <span className="text-xs font-normal text-faint">optional</span>}
      </p>
      <CodeEditor
        label={field.label}
        language={language}
        value={text}
        readOnly={readOnly}
        invalid={problem !== undefined}
        describedBy={`${id}-hint`}
        onChange={next => onChange(next === '' && !field.required && !keepsEmpty ? undefined : next)}
      />
      <div id={`${id}-hint`} className="text-xs">
        {field.hint ? <p className="text-muted">{field.hint}</p> : null}
        {problem ? (
          <p role="alert" className="wrap-anywhere text-bad">
            {problem}
          </p>
        ) : null}
      </div>
    </div>
  );
}
