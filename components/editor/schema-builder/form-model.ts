import { isObject, isTexts, type Json, type JsonObject } from '@/server/platform/json.ts';

/** A field of a form: a property of an object schema. */
export type BuilderField = { name: string; required: boolean; schema: Json };

/** An object schema as a list of fields. */
export type FormModel = {
  fields: readonly BuilderField[];
  /** The original schema. Everything in it that does not concern the fields is kept. */
  root: JsonObject;
};

/** Keywords of an object schema that add nothing to what the builder shows. */
const ROOT_KEYWORDS: ReadonlySet<string> = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'title',
  'description',
  'examples',
  '$schema',
  '$id',
  '$comment',
  '$defs',
  'definitions',
]);

const NOTHING: JsonObject = { type: 'object' };

/**
 * Returns the fields of an object schema; null for a schema that says more than a list of fields. Without a schema, the form has no
 * fields.
 */
export function readForm(schema: Json | undefined): FormModel | null {
  if (schema === undefined) return { fields: [], root: NOTHING };
  if (!isObject(schema)) return null;
  const { type, properties, required } = schema;
  if (!Object.keys(schema).every(key => ROOT_KEYWORDS.has(key) || key.startsWith('x-'))) return null;
  if (type !== undefined && type !== 'object') return null;
  if (properties !== undefined && !isObject(properties)) return null;
  if (required !== undefined && !isTexts(required)) return null;
  const names = new Set(required ?? []);
  const fields = Object.entries(properties ?? {}).map(([name, property]) => ({
    name,
    required: names.has(name),
    schema: property,
  }));
  return { fields, root: schema };
}

/** Returns the schema of a form: the original schema with the present fields. */
export function writeForm({ fields, root }: FormModel): JsonObject {
  const properties = Object.fromEntries(fields.map(({ name, schema }) => [name, schema]));
  const required = requiredOf(fields, root);
  const kept = Object.entries(root).flatMap(([key, value]): [string, Json][] => {
    if (key === 'properties') return [[key, properties]];
    if (key === 'required') return required.length > 0 || isEmpty(value) ? [[key, required]] : [];
    return [[key, value]];
  });
  return Object.fromEntries([
    ...(root.type === undefined && fields.length > 0 && root.properties === undefined ? [['type', 'object']] : []),
    ...kept,
    ...(root.properties === undefined && fields.length > 0 ? [['properties', properties]] : []),
    ...(root.required === undefined && required.length > 0 ? [['required', required]] : []),
  ]);
}

const isEmpty = (value: Json) => Array.isArray(value) && value.length === 0;

/**
 * Returns the required names: the originally required names in their order, including names that are not fields, and
 * then the others.
 */
function requiredOf(fields: readonly BuilderField[], root: JsonObject): string[] {
  const before = isTexts(root.required) ? root.required : [];
  const formerNames = new Set(Object.keys(isObject(root.properties) ? root.properties : {}));
  const requiredNames = new Set(fields.filter(field => field.required).map(({ name }) => name));
  const present = new Set(fields.map(({ name }) => name));
  const kept = before.filter(name => requiredNames.has(name) || (!formerNames.has(name) && !present.has(name)));
  return [...kept, ...[...requiredNames].filter(name => !kept.includes(name))];
}

/** Returns the schema for a form; undefined if the form has no fields and the schema says nothing else. */
export function formValue(form: FormModel): JsonObject | undefined {
  const saysMore = Object.keys(form.root).some(key => key !== 'type' && key !== 'properties' && key !== 'required');
  return form.fields.length === 0 && !saysMore ? undefined : writeForm(form);
}

/** Field names that can follow a dot in templates, expressions and scripts. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const MAX_NAME = 64;

/** Returns a field name for a label: “Order total (€)” → `order_total`. */
export function nameFor(label: string): string {
  const plain = label.normalize('NFKD').replaceAll(/\p{M}/gu, '').replaceAll('ß', 'ss').toLowerCase();
  const name = plain.replaceAll(/[^a-z0-9]+/g, '_').replaceAll(/^_+|_+$/g, '');
  const started = /^[0-9]/.test(name) ? `_${name}` : name;
  return started.slice(0, MAX_NAME) || 'field';
}

/** Returns a name that no other field has: `total`, otherwise `total_2` and so on. */
export function freeName(name: string, taken: readonly string[]): string {
  if (!taken.includes(name)) return name;
  for (let count = 2; ; count++) if (!taken.includes(`${name}_${count}`)) return `${name}_${count}`;
}

/** Returns the reason why a name is invalid; null if it is valid. */
export function nameProblem(name: string, others: readonly string[]): string | null {
  if (name === '') return 'Enter a name.';
  if (others.includes(name)) return 'Another field has this name.';
  if (!NAME.test(name)) return 'Use letters, digits and _, and begin with a letter.';
  return name.length > MAX_NAME ? `Use at most ${MAX_NAME} characters.` : null;
}

/** Returns a form with one field changed. */
export function changeField(form: FormModel, index: number, change: Partial<BuilderField>): FormModel {
  return { ...form, fields: form.fields.map((field, at) => (at === index ? { ...field, ...change } : field)) };
}

/** Returns a form with a field inserted. */
export function addField(form: FormModel, index: number, field: BuilderField): FormModel {
  return { ...form, fields: form.fields.toSpliced(index, 0, field) };
}

/** Returns a form without one of its fields. */
export function removeField(form: FormModel, index: number): FormModel {
  return { ...form, fields: form.fields.toSpliced(index, 1) };
}

/** Returns a form with one of its fields moved. */
export function moveField(form: FormModel, from: number, to: number): FormModel {
  const field = form.fields[from];
  if (field === undefined || to < 0 || to >= form.fields.length) return form;
  return { ...form, fields: form.fields.toSpliced(from, 1).toSpliced(to, 0, field) };
}

/** Returns a form with a copy of a field after the original, under a new name. */
export function duplicateField(form: FormModel, index: number): FormModel {
  const field = form.fields[index];
  if (field === undefined) return form;
  const name = freeName(
    field.name,
    form.fields.map(each => each.name),
  );
  return addField(form, index + 1, { ...field, name });
}

/** A row of the builder. Its key stays the same when the field is renamed or moved, so that the row keeps the focus. */
export type Row = { key: number; name: string };

/** Returns the rows of the present fields with their previous keys; `next` creates keys for new rows. */
export function rowsOf(before: readonly Row[], names: readonly string[], next: () => number): readonly Row[] {
  if (before.length === names.length && before.every(({ name }, index) => name === names[index])) return before;
  const known = new Map(before.map(({ key, name }) => [name, key]));
  const isRename = before.length === names.length;
  return names.map((name, index) => {
    const same = known.get(name);
    if (same !== undefined) return { key: same, name };
    const former = before[index];
    const isRenamed = isRename && former !== undefined && !names.includes(former.name);
    return { key: isRenamed ? former.key : next(), name };
  });
}
