import { isObject, type Json, type JsonObject } from '@/server/platform/json.ts';
import { SchemaReader } from '@/server/platform/json-schema/expand.ts';
import { SchemaValidator } from '@/server/platform/json-schema/validator.ts';

// Not @rjsf/core 6: compressed it is 99 KB, and 142 KB with its validator, which needs `eval`, which the page forbids.
// json-form.tsx and this file are 3 KB, and @rjsf/core would still need a theme with all of our controls.

/** The limit in SchemaValidator's units of work, so that checking a form causes no delay. The service checks again. */
const MAX_WORK = 1_000_000;

/** One field of a form, in the form that the renderer needs. `json`: no control fits its schema, so the field is edited as JSON text. */
export type FormField = {
  key: string;
  label: string;
  hint: string | undefined;
  required: boolean;
  /** True if null is a valid answer; it is the value of an empty required field. */
  nullable: boolean;
  /** The schema with its references resolved. */
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

/** Returns a label: "order_total" and "orderTotal" become "Order total". */
export function labelOf(key: string): string {
  const words = key
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
    .trim()
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * Returns the fields of an object schema, in the author's order; empty for other schemas. References within the schema are followed. A
 * field that would contain itself is edited as JSON.
 */
export function formFields(schema: JsonObject): FormField[] {
  const reader = new SchemaReader(schema);
  const { schema: root, node } = reader.expand(schema);
  return fieldsOf(root, { reader, open: [node] });
}

/** `open` has the schemas that contain a field. */
type Place = { reader: SchemaReader; open: readonly JsonObject[] };

function fieldsOf(schema: JsonObject, place: Place): FormField[] {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(properties).map(([key, property]) => toField(key, property, required.includes(key), place));
}

function toField(key: string, property: Json, required: boolean, { reader, open }: Place): FormField {
  const { schema, nullable, node } = reader.expand(property);
  // Not the title of the referenced schema: two fields that refer to an address would have the same label.
  const label = (isObject(property) ? text(property.title) : undefined) ?? labelOf(key);
  const about = { key, label, hint: text(schema.description), required, nullable, schema };
  return { ...about, ...control(schema, open.includes(node) ? undefined : { reader, open: [...open, node] }) };
}

type Control = FormField extends infer F
  ? F extends FormField
    ? Omit<F, 'key' | 'label' | 'hint' | 'required' | 'nullable' | 'schema'>
    : never
  : never;

/** Returns the control of a schema. `place` is undefined if the schema contains itself. */
function control(schema: JsonObject, place: Place | undefined): Control {
  const choice = choices(schema);
  if (choice) return { kind: 'choice', ...choice };
  switch (schema.type ?? (isObject(schema.properties) ? 'object' : undefined)) {
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
      return place === undefined ? { kind: 'json' } : arrayControl(schema, place);
    case 'object':
      return isObject(schema.properties) && place !== undefined
        ? { kind: 'group', fields: fieldsOf(schema, place) }
        : { kind: 'json' };
    default:
      return { kind: 'json' };
  }
}

function choices(schema: JsonObject): { options: Json[]; labels: string[] } | null {
  if (Array.isArray(schema.enum)) return { options: schema.enum, labels: schema.enum.map(labelOfValue) };
  if (schema.const !== undefined) return { options: [schema.const], labels: [labelOfValue(schema.const)] };
  // `oneOf: [{const, title}]` is JSON Schema's way to label choices.
  const alternatives = schema.oneOf ?? schema.anyOf;
  const list = Array.isArray(alternatives) ? alternatives.filter(isObject) : [];
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
    case 'iri':
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

function arrayControl(schema: JsonObject, { reader }: Place): Control {
  const { schema: items, nullable } = reader.expand(schema.items);
  if (nullable) return { kind: 'json' };
  const choice = choices(items);
  if (choice) return { kind: 'choices', ...choice };
  if (items.type === 'string') return { kind: 'list', item: 'text' };
  if (items.type === 'number' || items.type === 'integer') return { kind: 'list', item: 'number' };
  return { kind: 'json' };
}

/** Returns the initial values: the schema's `default`s, and null where an empty field has to be null. */
export function initialValues(schema: JsonObject): JsonObject {
  return initialOf(formFields(schema));
}

function initialOf(fields: readonly FormField[]): JsonObject {
  const values: JsonObject = {};
  for (const field of fields) {
    if (field.schema.default !== undefined) values[field.key] = field.schema.default;
    else if (field.required && field.schema.const !== undefined) values[field.key] = field.schema.const;
    else if (field.required && field.nullable) values[field.key] = null;
    else if (field.kind === 'group') {
      const inner = initialOf(field.fields);
      if (Object.keys(inner).length > 0) values[field.key] = inner;
    }
  }
  return values;
}

/**
 * Compiles a pattern as a regular expression of the browser, which supports all of the service's patterns. The service
 * checks again.
 */
function compilePattern(source: string) {
  try {
    const expression = new RegExp(source, 'u');
    return { test: (value: string) => expression.test(value), cost: 1 };
  } catch {
    return undefined;
  }
}

/** Returns the problems by field path (`address/city`; the empty path is the form itself), in words for the user. */
export function validateValues(schema: JsonObject, values: JsonObject): Map<string, string> {
  const problems = new Map<string, string>();
  for (const { path, keyword, message } of new SchemaValidator(schema, {
    patterns: compilePattern,
    formats: true,
  }).check(values, MAX_WORK) ?? []) {
    const at = path.join('/');
    // The message begins with the name of the missing field.
    const missing = keyword === 'required' ? missingName(message) : undefined;
    if (missing !== undefined) problems.set(at ? `${at}/${missing}` : missing, 'This field is required.');
    else if (!problems.has(at)) problems.set(at, `${message.charAt(0).toUpperCase()}${message.slice(1)}.`);
  }
  return problems;
}

function missingName(message: string): string | undefined {
  const name = /^(.*) is missing$/s.exec(message)?.[1];
  return name?.startsWith('"') ? (JSON.parse(name) as string) : name;
}

/** Returns true if a comment can be added: the form has no field for it and allows additional properties. */
export function takesExtraComment(schema: JsonObject | null): boolean {
  if (schema === null) return true;
  const { properties, additionalProperties } = new SchemaReader(schema).expand(schema).schema;
  return !(isObject(properties) && 'comment' in properties) && additionalProperties !== false;
}

/**
 * Returns the `result` to send with a decision, or undefined to send only `{approved}`, as the plain buttons do. An empty text is left out
 * unless the form started with it.
 */
export function resultOf(values: JsonObject, comment: string, initial: JsonObject = {}): JsonObject | undefined {
  const result = { ...prune(values, initial), ...(comment.trim() ? { comment: comment.trim() } : {}) };
  return Object.keys(result).length > 0 ? result : undefined;
}

/** Returns the values that differ from the initial values. A rejection sends only these. */
export function changedValues(values: JsonObject, initial: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([key, value]) => !isSame(value, initial[key])));
}

/** Removes empty strings, empty lists and empty groups, except those that are as in `initial`. */
export function prune(values: JsonObject, initial: JsonObject = {}): JsonObject {
  const kept: JsonObject = {};
  for (const [key, value] of Object.entries(values)) {
    const before = Object.hasOwn(initial, key) ? initial[key] : undefined;
    if (isSame(value, before)) kept[key] = value;
    else if (value === '' || (Array.isArray(value) && value.length === 0)) continue;
    else if (!isObject(value)) kept[key] = value;
    else {
      const inner = prune(value, isObject(before) ? before : {});
      if (Object.keys(inner).length > 0) kept[key] = inner;
    }
  }
  return kept;
}

const isSame = (value: Json, before: Json | undefined): boolean =>
  before !== undefined && JSON.stringify(value) === JSON.stringify(before);
