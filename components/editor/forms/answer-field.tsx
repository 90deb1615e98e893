'use client';
import type { SchemaFieldProps } from '../inspector/code-field.tsx';
import { FormField } from '../schema-builder/form-field.tsx';

const HINT = 'The fields that the final answer must have. Later steps read them by name.';

/** The JSON Schema of a model's answer. */
export function AnswerField(props: SchemaFieldProps) {
  return (
    <FormField
      {...props}
      field={{ ...props.field, hint: HINT }}
      list="Fields of the answer"
      empty="No fields: the answer is text, in any form."
    />
  );
}
