'use client';
import { useState } from 'react';
import { isObject, type Json, type JsonObject } from '@/server/platform/json.ts';
import type { Step } from '../../../server/domains/workflows/edits/index.ts';
import { Checkbox } from '../../ui/checkbox.tsx';
import { Field } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { ValueInput } from '../values/value-input.tsx';
import { CodeArea, JsonField, type SchemaFieldProps } from './code-field.tsx';
import { explained } from './field-help.tsx';
import { useTools } from './pickers.tsx';
import { argumentText, readArgument, type ToolArgument, toolArguments, withArgument } from './tool-arguments.ts';

/** The arguments of the step's tool. */
export function ToolArgumentsField(props: SchemaFieldProps) {
  const { tools } = useTools(props.step);
  const tool = tools?.find(({ name }) => name === props.step.tool_name);
  return (
    <ArgumentsField
      {...props}
      title="Arguments"
      described="Arguments of the tool"
      owner="tool"
      description={tool?.description ?? null}
      schema={tool ? (tool.input_schema as JsonObject) : null}
    />
  );
}

type ArgumentsProps = SchemaFieldProps & {
  title: string;
  /** The name of the form for screen readers. */
  described: string;
  /** Whether a tool or a workflow declares the arguments. */
  owner: 'tool' | 'workflow';
  description: string | null;
  /** JSON Schema of the arguments; null: none, or not known. */
  schema: JsonObject | null;
};

/** The arguments of a called tool or workflow: a form made from the schema, or JSON if there is no schema or the user prefers it. */
export function ArgumentsField({ title, described, owner, description, schema, ...props }: ArgumentsProps) {
  const { step, value, onChange, readOnly, problem } = props;
  const [asJson, setAsJson] = useState(false);
  const fields = schema === null ? [] : toolArguments(schema);
  const values = value === undefined ? {} : value;
  if (fields.length === 0 || !isObject(values as Json)) return <JsonField {...props} />;
  const given = values as JsonObject;
  const others = Object.keys(given).filter(name => !fields.some(field => field.name === name));
  return (
    <section aria-label={described} className="flex flex-col gap-3">
      <div className="flex items-center justify-between gap-2">
        <h3 className="text-sm font-medium">{title}</h3>
        <Checkbox label="Edit as JSON" checked={asJson} onCheckedChange={setAsJson} />
      </div>
      {description && !asJson ? <p className="text-xs whitespace-pre-line text-muted">{description}</p> : null}
      {asJson ? (
        <JsonField {...props} />
      ) : (
        fields.map(field => (
          <Argument
            key={field.name}
            step={step}
            argument={field}
            value={given[field.name]}
            readOnly={readOnly}
            onChange={next => onChange(withArgument(given, field.name, next))}
          />
        ))
      )}
      {others.length > 0 && !asJson ? (
        <p className="text-xs text-muted">
          The {owner} does not declare these arguments: {others.join(', ')}
        </p>
      ) : null}
      {problem && !asJson ? (
        <p role="alert" className="text-xs wrap-anywhere text-bad">
          {problem}
        </p>
      ) : null}
    </section>
  );
}

type ArgumentProps = {
  step: Step;
  argument: ToolArgument;
  value: Json | undefined;
  readOnly: boolean;
  onChange: (value: Json | undefined) => void;
};

function Argument({ step, argument, value, readOnly, onChange }: ArgumentProps) {
  const { label, hint, required, kind, choices } = argument;
  // Keeps the typed text while it means the present value: `1.` on the way to `1.5` must not become `1`.
  const [typed, setTyped] = useState(() => argumentText(value));
  const shown = argumentText(readArgument(argument, typed)) === argumentText(value) ? typed : argumentText(value);
  const changeText = (text: string) => {
    setTyped(text);
    onChange(readArgument(argument, text));
  };
  // A template may replace a choice or a flag.
  const isText = typeof value === 'string' && value.includes('{{');
  if ((kind === 'choice' || kind === 'flag') && !isText) {
    const options = kind === 'flag' ? ['true', 'false'] : choices;
    return (
      <Field label={label} {...explained(hint, label)} required={required}>
        <Select
          value={argumentText(value)}
          disabled={readOnly}
          options={[{ value: '', label: 'Not given' }, ...options.map(each => ({ value: each, label: each }))]}
          onChange={next => onChange(kind === 'flag' && next !== '' ? next === 'true' : readArgument(argument, next))}
        />
      </Field>
    );
  }
  if (kind === 'long')
    return (
      <CodeArea
        label={label}
        hint={hint}
        required={required}
        step={step}
        language="text"
        text={shown}
        readOnly={readOnly}
        onChange={changeText}
      />
    );
  return (
    <Field label={label} {...explained(hint, label)} required={required}>
      <ValueInput label={label} step={step.id} value={shown} readOnly={readOnly} onChange={changeText} />
    </Field>
  );
}
