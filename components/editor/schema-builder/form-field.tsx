'use client';
import { type ReactNode, useId, useState } from 'react';
import type { Json, JsonObject } from '@/server/platform/json.ts';
import { Checkbox } from '../../ui/checkbox.tsx';
import { JsonField, type SchemaFieldProps } from '../inspector/code-field.tsx';
import { formValue, readForm } from './form-model.ts';
import { type FieldRename, renamedField } from './rename-field.ts';
import { SchemaBuilder } from './schema-builder.tsx';

type Props = SchemaFieldProps & {
  /** The name of the list of fields for screen readers. */
  list: string;
  /** Shown while there are no fields. */
  empty: string;
  /** Shown beside the heading. */
  action?: ReactNode;
  /** Called instead of `onChange` for a change that renames one field. */
  onRename?: (value: JsonObject | undefined, renamed: FieldRename) => void;
};

/**
 * Edits the JSON Schema of an object: in a form builder, or as JSON if the builder does not support the schema or the
 * user prefers JSON.
 */
export function FormField({ list, empty, action, onRename, ...props }: Props) {
  const { field, value, onChange, problem, readOnly, unfinished, id } = props;
  const [prefersJson, setPrefersJson] = useState(() => unfinished.has(id));
  const heading = useId();
  const form = readForm(value as Json | undefined);
  const asJson = prefersJson || form === null;
  return (
    <section aria-labelledby={heading} className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center justify-between gap-x-3 gap-y-1">
        <p id={heading} className="text-sm font-medium">
          {field.label}
        </p>
        <div className="flex items-center gap-3">
          {action}
          <Checkbox
            label="Edit as JSON"
            checked={asJson}
            disabled={form === null}
            onCheckedChange={checked => setPrefersJson(checked)}
          />
        </div>
      </div>
      {asJson || field.hint === undefined ? null : <p className="text-xs text-muted">{field.hint}</p>}
      {form === null ? (
        <p className="text-xs text-muted">
          This schema says more than the form builder shows, so it is edited as JSON.
        </p>
      ) : null}
      {asJson || form === null ? (
        <JsonField {...props} />
      ) : (
        <>
          <SchemaBuilder
            form={form}
            label={list}
            empty={empty}
            readOnly={readOnly}
            onChange={next => {
              unfinished.delete(id);
              const renamed = onRename === undefined ? null : renamedField(form, next);
              if (renamed === null) onChange(formValue(next));
              else onRename?.(formValue(next), renamed);
            }}
          />
          {problem ? (
            <p role="alert" className="text-xs wrap-anywhere text-bad">
              {problem}
            </p>
          ) : null}
        </>
      )}
    </section>
  );
}
