'use client';
import type { JsonObject } from '@/server/platform/json.ts';
import { Field, Textarea } from '../ui/field.tsx';
import { formFields, takesExtraComment } from './form-schema.ts';
import { JsonForm } from './json-form.tsx';

type Props = {
  /** The JSON Schema of the answer; null if the answer is only a decision. */
  form: JsonObject | null;
  values: JsonObject;
  comment: string;
  /** The problems by field path. The empty path is the form itself. */
  problems: ReadonlyMap<string, string>;
  onValues: (values: JsonObject) => void;
  onComment: (comment: string) => void;
};

/** Shows the form of a task, and a comment field unless the form has one. */
export function TaskFields({ form, values, comment, problems, onValues, onComment }: Props) {
  const fields = form ? formFields(form) : [];
  return (
    <>
      {fields.length === 0 ? null : (
        <JsonForm fields={fields} values={values} problems={problems} onChange={onValues} />
      )}
      {takesExtraComment(form) ? (
        <Field label="Comment" optional>
          <Textarea rows={2} maxLength={4000} value={comment} onChange={event => onComment(event.target.value)} />
        </Field>
      ) : null}
      {problems.get('') ? (
        <p role="alert" className="text-sm text-bad">
          {problems.get('')}
        </p>
      ) : null}
    </>
  );
}
