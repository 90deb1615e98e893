'use client';
import { isObject, type JsonObject } from '@/server/platform/json.ts';
import type { StepFormProps } from '../../inspector/step-forms.ts';
import { TypedField } from '../../inspector/typed-field.tsx';
import type { StepField } from '../../step-fields.ts';

/** Returns the value of a field if it is an object, otherwise an empty object. */
export const objectOf = (value: unknown): JsonObject => (isObject(value as JsonObject) ? (value as JsonObject) : {});

/** Returns an object with a field set or removed. */
export function withField(object: JsonObject, name: string, value: JsonObject[string] | undefined): JsonObject {
  const { [name]: _, ...others } = object;
  return value === undefined ? others : { ...others, [name]: value };
}

type Props = Pick<StepFormProps, 'workflowId' | 'step' | 'unfinished' | 'readOnly' | 'loop'> & {
  /** The path within the step, under which unfinished text is kept. */
  path: string;
  label: string;
  hint?: string | undefined;
  value: JsonObject[string] | undefined;
  onChange: (value: number | bigint | undefined) => void;
};

/** An integer field within an object. */
export function NestedNumber({ path, label, hint, loop, onChange, ...props }: Props) {
  const field: StepField = { name: path, label, kind: 'number', required: false, hint, choices: [], integer: true };
  return (
    <TypedField
      {...props}
      field={field}
      id={[...loop, props.step.id, path].join('.')}
      problem={undefined}
      onChange={next => onChange(typeof next === 'number' || typeof next === 'bigint' ? next : undefined)}
    />
  );
}
