'use client';
import { useState } from 'react';
import type { Json } from '@/server/platform/json.ts';
import { readNumber } from '@/server/platform/json-text.ts';
import { formFields } from '../../forms/form-schema.ts';
import { JsonForm } from '../../forms/json-form.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { ChoicesEditor } from './choices-editor.tsx';
import { FIELD_KINDS, limitLabels, lookOf } from './field-kinds.ts';
import { type FieldView, schemaOf, withChoices, withKind } from './field-view.ts';
import { nameProblem } from './form-model.ts';

/** The attribute of the control that takes the focus when a field is opened. */
export const FIRST_CONTROL = 'data-first-control';

type Props = {
  view: FieldView;
  name: string;
  required: boolean;
  /** The names of the other fields. */
  taken: readonly string[];
  onChange: (view: FieldView) => void;
  onRename: (name: string) => void;
  onRequired: (required: boolean) => void;
};

const KIND_OPTIONS = FIELD_KINDS.map(kind => ({ value: kind, label: lookOf(kind).label }));

/** The settings of a field that the builder supports. */
export function FieldEditor({ view, name, required, taken, onChange, onRename, onRequired }: Props) {
  return (
    <div className="flex flex-col gap-3">
      <Field label="Label">
        <Input
          {...{ [FIRST_CONTROL]: '' }}
          value={view.label}
          maxLength={200}
          placeholder={name}
          onChange={event => onChange({ ...view, label: event.target.value })}
        />
      </Field>
      <div className="flex flex-wrap items-end gap-x-4 gap-y-2">
        <Field label="Type" className="min-w-36 flex-1">
          <Select
            key={view.kind}
            value={view.kind}
            options={KIND_OPTIONS}
            onChange={kind => onChange(withKind(view, kind))}
          />
        </Field>
        <div className="pb-1.5">
          <Checkbox label="Required" checked={required} onCheckedChange={onRequired} />
        </div>
      </div>
      {view.choices === undefined ? null : (
        <ChoicesEditor choices={view.choices} onChange={choices => onChange(withChoices(view, choices))} />
      )}
      <details className="group/more">
        <summary className="text-sm text-muted">More</summary>
        <div className="mt-2 flex flex-col gap-3">
          <Field label="Help" optional>
            <Input
              value={view.help}
              placeholder="Shown below the field"
              onChange={event => onChange({ ...view, help: event.target.value })}
            />
          </Field>
          <Default key={view.kind} view={view} onChange={onChange} />
          <Limits key={`limits-${view.kind}`} view={view} onChange={onChange} />
          <NameField key={name} name={name} taken={taken} onRename={onRename} />
        </div>
      </details>
    </div>
  );
}

const ANSWERS = [
  { value: '', label: 'None' },
  { value: 'true', label: 'Yes' },
  { value: 'false', label: 'No' },
];

/** Edits the default value of a field with the same control that people will use. */
function Default({ view, onChange }: Pick<Props, 'view' | 'onChange'>) {
  const { default: current, ...rest } = view;
  const change = (value: Json | undefined) => onChange(value === undefined ? rest : { ...rest, default: value });
  if (view.kind === 'yes_no')
    return (
      <Field label="Default" optional>
        <Select
          value={current === undefined ? '' : String(current)}
          options={ANSWERS}
          onChange={next => change(next === '' ? undefined : next === 'true')}
        />
      </Field>
    );
  const schema = schemaOf({ ...rest, label: 'Default', help: '' });
  return (
    <JsonForm
      fields={formFields({ type: 'object', properties: { default: schema } })}
      values={current === undefined ? {} : { default: current }}
      problems={NO_PROBLEMS}
      onChange={values => {
        const value = values.default;
        change(value === '' || (Array.isArray(value) && value.length === 0) ? undefined : value);
      }}
    />
  );
}

const NO_PROBLEMS: ReadonlyMap<string, string> = new Map();

function Limits({ view, onChange }: Pick<Props, 'view' | 'onChange'>) {
  const labels = limitLabels(view.kind);
  if (labels === null) return null;
  const isCount = view.kind !== 'number' && view.kind !== 'integer';
  const { min, max, ...rest } = view;
  const change = (limits: Pick<FieldView, 'min' | 'max'>) => onChange({ ...rest, ...limits });
  const lowest = min === undefined ? {} : { min };
  const highest = max === undefined ? {} : { max };
  const isReversed = min !== undefined && max !== undefined && min > max;
  return (
    <div className="flex flex-col gap-1">
      <div className="grid grid-cols-2 gap-2">
        <Limit
          label={labels[0]}
          value={min}
          isCount={isCount}
          onChange={next => change({ ...highest, ...(next === undefined ? {} : { min: next }) })}
        />
        <Limit
          label={labels[1]}
          value={max}
          isCount={isCount}
          onChange={next => change({ ...lowest, ...(next === undefined ? {} : { max: next }) })}
        />
      </div>
      {isReversed ? (
        <p role="alert" className="text-xs text-bad">
          No value fits: the lower limit is above the upper one.
        </p>
      ) : null}
    </div>
  );
}

type Limit = number | bigint | undefined;

/** Parses a limit; null if the text is not a limit. */
function readLimit(text: string, isCount: boolean): { limit: Limit } | null {
  if (text.trim() === '') return { limit: undefined };
  const limit = readNumber(text);
  if (typeof limit === 'number' && !Number.isFinite(limit)) return null;
  if (isCount && !(Number.isSafeInteger(limit) && limit >= 0)) return null;
  return { limit };
}

type LimitProps = { label: string; value: Limit; isCount: boolean; onChange: (value: Limit) => void };

function Limit({ label, value, isCount, onChange }: LimitProps) {
  const [typed, setTyped] = useState(() => (value === undefined ? '' : String(value)));
  const read = readLimit(typed, isCount);
  // The limit was changed by Undo, or elsewhere.
  const isStale = read !== null && read.limit !== value;
  const shown = isStale ? (value === undefined ? '' : String(value)) : typed;
  return (
    <Field
      label={label}
      optional
      error={read === null ? (isCount ? 'Enter a whole number.' : 'Enter a number.') : null}
    >
      <Input
        inputMode="decimal"
        value={shown}
        onChange={event => {
          setTyped(event.target.value);
          const next = readLimit(event.target.value, isCount);
          if (next !== null) onChange(next.limit);
        }}
      />
    </Field>
  );
}

type NameProps = Pick<Props, 'name' | 'taken' | 'onRename'>;

/**
 * Edits the name of a field in the data. It is applied on blur, because steps must not refer to a partly typed name.
 */
export function NameField({ name, taken, onRename }: NameProps) {
  const [text, setText] = useState(name);
  const problem = text === name ? null : nameProblem(text.trim(), taken);
  const rename = () => {
    if (text !== name && problem === null) onRename(text.trim());
  };
  return (
    <Field
      label="Name in the data"
      hint="How steps refer to the value. Renaming does not change what refers to it."
      error={problem}
    >
      <Input
        value={text}
        spellCheck={false}
        className="font-mono"
        onChange={event => setText(event.target.value)}
        onBlur={rename}
        onKeyDown={event => {
          if (event.key === 'Enter') rename();
        }}
      />
    </Field>
  );
}
