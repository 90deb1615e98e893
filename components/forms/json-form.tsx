'use client';
import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import { isObject, type Json, type JsonObject } from '@/server/platform/json.ts';
import { isNumber, parseJson, readNumber } from '@/server/platform/json-text.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { Checkbox } from '../ui/checkbox.tsx';
import { DateField } from '../ui/date-field.tsx';
import { Field, Input, Textarea } from '../ui/field.tsx';
import { Select } from '../ui/select.tsx';
import { TimeInput } from '../ui/time-input.tsx';
import type { FormField } from './form-schema.ts';

type Change = (value: Json | undefined) => void;

/**
 * The controls of a form made from a JSON Schema. `problems` is keyed by field path, as `validateValues` returns it.
 */
export function JsonForm({
  fields,
  values,
  problems,
  path = '',
  onChange,
}: {
  fields: readonly FormField[];
  values: JsonObject;
  problems: ReadonlyMap<string, string>;
  path?: string;
  onChange: (values: JsonObject) => void;
}) {
  return (
    <div className="flex flex-col gap-4">
      {fields.map(field => {
        const at = path ? `${path}/${field.key}` : field.key;
        const change: Change = given => {
          const isEmpty = given === undefined || given === '';
          const value = isEmpty && field.nullable && field.required ? null : given;
          const { [field.key]: _, ...rest } = values;
          onChange(value === undefined ? rest : { ...rest, [field.key]: value });
        };
        return (
          <FieldRow
            key={field.key}
            field={field}
            at={at}
            value={values[field.key]}
            problems={problems}
            onChange={change}
          />
        );
      })}
    </div>
  );
}

type RowProps = {
  field: FormField;
  at: string;
  value: Json | undefined;
  problems: ReadonlyMap<string, string>;
  onChange: Change;
};

function FieldRow({ field, at, value, problems, onChange }: RowProps) {
  const error = problems.get(at);
  switch (field.kind) {
    case 'group':
      return (
        <fieldset className="rounded-md border p-3">
          <legend className="px-1 text-sm font-medium">{field.label}</legend>
          {field.hint ? <p className="mb-2 text-xs text-muted">{field.hint}</p> : null}
          <JsonForm
            fields={field.fields}
            values={isObject(value) ? value : {}}
            problems={problems}
            path={at}
            onChange={onChange}
          />
          <Problem text={error} />
        </fieldset>
      );
    case 'boolean':
      return (
        <div>
          <Checkbox label={field.label} hint={field.hint} checked={value === true} onCheckedChange={onChange} />
          <Problem text={error} />
        </div>
      );
    case 'choices':
      return <Choices field={field} value={value} error={error} onChange={onChange} />;
    case 'list':
      return <List field={field} value={value} error={error ?? firstBelow(problems, at)} onChange={onChange} />;
    default:
      return (
        <Field label={field.label} hint={field.hint} error={error} required={field.required} optional={!field.required}>
          <Control field={field} value={value} onChange={onChange} />
        </Field>
      );
  }
}

function firstBelow(problems: ReadonlyMap<string, string>, at: string): string | undefined {
  for (const [path, text] of problems) if (path.startsWith(`${at}/`)) return text;
  return undefined;
}

function Problem({ text }: { text: string | undefined }) {
  return text ? (
    <p role="alert" className="mt-1 text-xs text-bad">
      {text}
    </p>
  ) : null;
}

/** Returns the number in a field with all its digits; undefined if the browser or JSON refuses it. */
function parseTyped(text: string): number | bigint | undefined {
  const number = readNumber(text);
  return typeof number === 'number' && !Number.isFinite(number) ? undefined : number;
}

type SimpleField = Extract<FormField, { kind: 'text' | 'textarea' | 'number' | 'choice' | 'json' }>;

function Control({ field, value, onChange }: { field: SimpleField; value: Json | undefined; onChange: Change }) {
  const text = typeof value === 'string' ? value : '';
  switch (field.kind) {
    case 'text':
      if (field.input === 'datetime-local') return <DateTime value={text} onChange={onChange} />;
      if (field.input === 'date') return <DateField value={text} onChange={onChange} className="w-40" />;
      if (field.input === 'time') return <TimeInput value={text} onChange={onChange} className="w-32" />;
      return (
        <Input
          type={field.input}
          value={text}
          maxLength={field.maxLength}
          onChange={event => onChange(event.target.value)}
        />
      );
    case 'textarea':
      return <Textarea value={text} maxLength={field.maxLength} onChange={event => onChange(event.target.value)} />;
    case 'number':
      return (
        <Input
          type="number"
          step={field.step}
          min={field.min}
          max={field.max}
          defaultValue={isNumber(value) ? String(value) : ''}
          onChange={event => onChange(parseTyped(event.target.value))}
        />
      );
    case 'choice':
      return <Choice field={field} value={value} onChange={onChange} />;
    case 'json':
      return <JsonText value={value} onChange={onChange} />;
  }
}

type ChoiceField = Extract<FormField, { kind: 'choice' }>;

/** A choice. It can be cleared if null or no answer is valid. */
function Choice({ field, value, onChange }: { field: ChoiceField; value: Json | undefined; onChange: Change }) {
  const chosen = field.options.findIndex(option => value !== undefined && isSame(option, value));
  const options = field.labels.map((label, index) => ({ value: String(index), label }));
  const none = field.nullable ? [{ value: NONE, label: 'None' }] : [];
  return (
    <Select<string>
      value={chosen === -1 ? (value === null && field.nullable ? NONE : undefined) : String(chosen)}
      placeholder="Choose"
      options={[...none, ...options]}
      onChange={index => onChange(index === NONE ? undefined : field.options[Number(index)])}
    />
  );
}

const NONE = 'none';

const isSame = (a: Json, b: Json) => JSON.stringify(a) === JSON.stringify(b);

/** A date and time: local to the user, ISO 8601 UTC in the result (JSON Schema's `date-time` requires an offset). */
function DateTime({ value, onChange }: { value: string; onChange: Change }) {
  const [local, setLocal] = useState(() => {
    const at = Date.parse(value);
    return Number.isNaN(at) ? '' : new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
  });
  const [day = '', time = ''] = local.split('T');
  const change = (nextDay: string, nextTime: string) => {
    setLocal(`${nextDay}T${nextTime}`);
    const at = Date.parse(`${nextDay}T${nextTime || '00:00'}`);
    onChange(Number.isNaN(at) ? undefined : new Date(at).toISOString());
  };
  return (
    <div className="flex gap-2">
      <DateField value={day} onChange={next => change(next, time)} className="w-40" />
      <TimeInput label="Time" value={time} onChange={next => change(day, next)} className="w-32" />
    </div>
  );
}

function JsonText({ value, onChange }: { value: Json | undefined; onChange: Change }) {
  const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value, null, 2));
  const change = (next: string) => {
    setText(next);
    try {
      onChange(next.trim() ? parseJson(next) : undefined);
    } catch {
      // A text that is not JSON yet is kept as a string, and the schema decides whether a string is valid.
      onChange(next);
    }
  };
  return (
    <Textarea
      spellCheck={false}
      className="font-mono text-xs"
      value={text}
      placeholder="JSON"
      onChange={event => change(event.target.value)}
    />
  );
}

function Choices({
  field,
  value,
  error,
  onChange,
}: {
  field: Extract<FormField, { kind: 'choices' }>;
  value: Json | undefined;
  error: string | undefined;
  onChange: Change;
}) {
  const chosen = Array.isArray(value) ? value : [];
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="mb-1 text-sm font-medium">{field.label}</legend>
      {field.hint ? <p className="text-xs text-muted">{field.hint}</p> : null}
      {field.options.map((option, index) => (
        <Checkbox
          key={JSON.stringify(option)}
          label={field.labels[index]}
          checked={chosen.some(each => isSame(each, option))}
          onCheckedChange={on => onChange(on ? [...chosen, option] : chosen.filter(each => !isSame(each, option)))}
        />
      ))}
      <Problem text={error} />
    </fieldset>
  );
}

function List({
  field,
  value,
  error,
  onChange,
}: {
  field: Extract<FormField, { kind: 'list' }>;
  value: Json | undefined;
  error: string | undefined;
  onChange: Change;
}) {
  const items = Array.isArray(value) ? value : [];
  const replace = (index: number, item: Json) => onChange(items.map((each, at) => (at === index ? item : each)));
  return (
    <fieldset className="flex flex-col gap-1.5">
      <legend className="mb-1 text-sm font-medium">{field.label}</legend>
      {field.hint ? <p className="text-xs text-muted">{field.hint}</p> : null}
      {items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: entries of a list have no identity but their place
        <div key={index} className="flex gap-1">
          <Input
            aria-label={`${field.label} ${index + 1}`}
            type={field.item}
            value={typeof item === 'string' || isNumber(item) ? String(item) : ''}
            onChange={event =>
              replace(index, field.item === 'number' ? (parseTyped(event.target.value) ?? 0) : event.target.value)
            }
          />
          <IconButton
            label={`Remove ${field.label} ${index + 1}`}
            tooltip={false}
            onClick={() => onChange(items.filter((_, at) => at !== index))}
          >
            <X aria-hidden className="size-3.5" />
          </IconButton>
        </div>
      ))}
      <Button
        size="sm"
        className="self-start"
        icon={<Plus aria-hidden className="size-3.5" />}
        onClick={() => onChange([...items, field.item === 'number' ? 0 : ''])}
      >
        Add
      </Button>
      <Problem text={error} />
    </fieldset>
  );
}
