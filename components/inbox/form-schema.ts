import { type Schema, Validator } from '@cfworker/json-schema';
import { isObject, type Json, type JsonObject } from '@/server/platform/json.ts';

// Not @rjsf/core 6: compressed it is 99 KB, and 142 KB with its validator, which compiles with the eval that the page forbids.
// json-form.tsx and this file are 3 KB, their validator 7 KB, and every control would still be ours to write as a theme.

/** One field of a form, as the renderer draws it. `json`: no control fits its schema, so it is edited as JSON text. */
export type FormField = {
  key: string;
  label: string;
  hint: string | undefined;
  required: boolean;
  schema: JsonObject;
} & (
  | {
      kind: 'text';
      input: 'text' | 'email' | 'url' | 'date' | 'datetime-local' | 'time';
      maxLength: number | undefined;
    }
  | { kind: 'textarea'; maxLength: number | undefined }
  | { kind: 'number'; step: number | 'any'; min: number | undefined; max: number | undefined }
  | { kind: 'boolean' }
  | { kind: 'choice'; options: Json[]; labels: string[] }
  | { kind: 'choices'; options: Json[]; labels: string[] }
  | { kind: 'list'; item: 'text' | 'number' }
  | { kind: 'group'; fields: FormField[] }
  | { kind: 'json' }
);

const text = (value: Json | undefined) => (typeof value === 'string' ? value : undefined);
const number = (value: Json | undefined) => (typeof value === 'number' ? value : undefined);

/** "order_total" and "orderTotal" both read "Order total". */
export function labelOf(key: string): string {
  const words = key
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
    .trim()
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * The fields of an object schema, in the order in which its author wrote them. Empty for anything else.
 */
export function formFields(schema: JsonObject): FormField[] {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(properties).map(([key, property]) =>
    toField(key, isObject(property) ? property : {}, required.includes(key)),
  );
}

function toField(key: string, schema: JsonObject, required: boolean): FormField {
  const label = text(schema.title) ?? labelOf(key);
  return { key, label, hint: text(schema.description), required, schema, ...control(schema) };
}

type Control = FormField extends infer F
  ? F extends FormField
    ? Omit<F, 'key' | 'label' | 'hint' | 'required' | 'schema'>
    : never
  : never;

function control(schema: JsonObject): Control {
  const choice = choices(schema);
  if (choice) return { kind: 'choice', ...choice };
  switch (schema.type) {
    case 'string':
      return stringControl(schema);
    case 'integer':
    case 'number':
      return {
        kind: 'number',
        step: number(schema.multipleOf) ?? (schema.type === 'integer' ? 1 : 'any'),
        min: number(schema.minimum),
        max: number(schema.maximum),
      };
    case 'boolean':
      return { kind: 'boolean' };
    case 'array':
      return arrayControl(schema);
    case 'object':
      return isObject(schema.properties) ? { kind: 'group', fields: formFields(schema) } : { kind: 'json' };
    default:
      return { kind: 'json' };
  }
}

function choices(schema: JsonObject): { options: Json[]; labels: string[] } | null {
  if (Array.isArray(schema.enum)) return { options: schema.enum, labels: schema.enum.map(labelOfValue) };
  // `oneOf: [{const, title}]` is JSON Schema's way to name the choices.
  const list = Array.isArray(schema.oneOf) ? schema.oneOf.filter(isObject) : [];
  if (list.length === 0 || !list.every(item => item.const !== undefined)) return null;
  return {
    options: list.map(item => item.const ?? null),
    labels: list.map(item => text(item.title) ?? labelOfValue(item.const ?? null)),
  };
}

const labelOfValue = (value: Json) => (typeof value === 'string' ? value : JSON.stringify(value));

function stringControl(schema: JsonObject): Control {
  const maxLength = number(schema.maxLength);
  switch (schema.format) {
    case 'textarea':
    case 'markdown':
      return { kind: 'textarea', maxLength };
    case 'email':
      return { kind: 'text', input: 'email', maxLength };
    case 'uri':
    case 'url':
      return { kind: 'text', input: 'url', maxLength };
    case 'date':
      return { kind: 'text', input: 'date', maxLength };
    case 'time':
      return { kind: 'text', input: 'time', maxLength };
    case 'date-time':
      return { kind: 'text', input: 'datetime-local', maxLength };
    default:
      return maxLength !== undefined && maxLength > 200
        ? { kind: 'textarea', maxLength }
        : { kind: 'text', input: 'text', maxLength };
  }
}

function arrayControl(schema: JsonObject): Control {
  const items = isObject(schema.items) ? schema.items : {};
  const choice = choices(items);
  if (choice) return { kind: 'choices', ...choice };
  if (items.type === 'string') return { kind: 'list', item: 'text' };
  if (items.type === 'number' || items.type === 'integer') return { kind: 'list', item: 'number' };
  return { kind: 'json' };
}

/** The initial values, from the schema's `default`s. */
export function initialValues(schema: JsonObject): JsonObject {
  const values: JsonObject = {};
  for (const field of formFields(schema)) {
    if (field.schema.default !== undefined) values[field.key] = field.schema.default;
    else if (field.kind === 'group') {
      const inner = initialValues(field.schema);
      if (Object.keys(inner).length > 0) values[field.key] = inner;
    }
  }
  return values;
}

/**
 * Problems by field path (`address/city`; the empty path is the form itself), in the words of a form rather than of a
 * validator. An interpreter, not a compiler of validators: the page forbids eval.
 */
export function validateValues(schema: JsonObject, values: JsonObject): Map<string, string> {
  const problems = new Map<string, string>();
  const result = new Validator(schema as Schema, '2020-12', false).validate(values);
  for (const problem of result.errors) {
    const path = problem.instanceLocation.replace(/^#\/?/, '');
    if (problem.keyword === 'required') {
      const key = /property "(.*)"/.exec(problem.error)?.[1] ?? '';
      problems.set(path ? `${path}/${key}` : key, 'This field is required.');
    } else if (problem.keyword !== 'properties' && problem.keyword !== 'items' && !problems.has(path)) {
      problems.set(path, problem.error);
    }
  }
  return problems;
}

/** Whether a comment can go along: the form has no field for it, and does not forbid what it does not name. */
export function takesExtraComment(schema: JsonObject | null): boolean {
  if (schema === null) return true;
  const properties = isObject(schema.properties) ? schema.properties : {};
  return !('comment' in properties) && schema.additionalProperties !== false;
}

/**
 * The `result` to send with a decision, or undefined to send `{approved}` alone (the plain buttons send nothing
 * else). Empty text is not an answer and is left out.
 */
export function resultOf(values: JsonObject, comment: string): JsonObject | undefined {
  const result = { ...prune(values), ...(comment.trim() ? { comment: comment.trim() } : {}) };
  return Object.keys(result).length > 0 ? result : undefined;
}

/** Removes empty strings, empty lists and empty groups. */
export function prune(values: JsonObject): JsonObject {
  const kept: JsonObject = {};
  for (const [key, value] of Object.entries(values)) {
    if (value === '' || (Array.isArray(value) && value.length === 0)) continue;
    if (!isObject(value)) kept[key] = value;
    else {
      const inner = prune(value);
      if (Object.keys(inner).length > 0) kept[key] = inner;
    }
  }
  return kept;
}
