import { isObject, isTexts, type Json, type JsonObject } from '@/server/platform/json.ts';
import { isSame } from '@/server/platform/json-schema/value.ts';
import { isNumber } from '@/server/platform/json-text.ts';

/** The field kinds that the builder can create. */
export type FieldKind =
  | 'text'
  | 'long'
  | 'number'
  | 'integer'
  | 'yes_no'
  | 'choice'
  | 'choices'
  | 'date'
  | 'datetime'
  | 'time'
  | 'email'
  | 'link';

/** A choice of a field; without a label, the value is shown. */
export type Choice = { value: string; label?: string };

/** A field of the builder, read from its JSON Schema. */
export type FieldView = {
  kind: FieldKind;
  /** Empty if the field's name is its label. */
  label: string;
  help: string;
  default?: Json;
  /** The limits of a number, of a text length, or of the number of chosen values. */
  min?: number | bigint;
  max?: number | bigint;
  choices?: readonly Choice[];
  /** The format in the schema, if the builder would write another one. */
  format?: string;
  untyped?: true;
  repeats?: true;
  titled?: true;
};

/** The text formats, each with its kind. The builder writes the first format of a kind. */
const FORMATS: readonly (readonly [format: string, kind: FieldKind])[] = [
  ['textarea', 'long'],
  ['markdown', 'long'],
  ['email', 'email'],
  ['uri', 'link'],
  ['url', 'link'],
  ['iri', 'link'],
  ['date', 'date'],
  ['date-time', 'datetime'],
  ['time', 'time'],
];

/** Returns the keywords of a kind's limits; null if the kind has no limits. */
export function limitsOf(kind: FieldKind): readonly [min: string, max: string] | null {
  switch (kind) {
    case 'text':
    case 'long':
      return ['minLength', 'maxLength'];
    case 'number':
    case 'integer':
      return ['minimum', 'maximum'];
    case 'choices':
      return ['minItems', 'maxItems'];
    case 'yes_no':
    case 'choice':
    case 'date':
    case 'datetime':
    case 'time':
    case 'email':
    case 'link':
      return null;
  }
}

/** Returns the JSON Schema of a field. */
export function schemaOf(view: FieldView): JsonObject {
  const { kind, label, help } = view;
  const [min, max] = limitsOf(kind) ?? [];
  return {
    ...typeOf(view),
    ...(label === '' ? {} : { title: label }),
    ...(help === '' ? {} : { description: help }),
    ...(view.default === undefined ? {} : { default: view.default }),
    ...(min === undefined || view.min === undefined ? {} : { [min]: view.min }),
    ...(max === undefined || view.max === undefined ? {} : { [max]: view.max }),
  };
}

function typeOf(view: FieldView): JsonObject {
  const { kind } = view;
  switch (kind) {
    case 'text':
      return { type: 'string' };
    case 'number':
    case 'integer':
      return { type: kind };
    case 'yes_no':
      return { type: 'boolean' };
    case 'choice':
      return choicesSchema(view);
    case 'choices':
      return { type: 'array', items: choicesSchema(view), ...(view.repeats ? {} : { uniqueItems: true }) };
    default:
      return { type: 'string', format: view.format ?? FORMATS.find(each => each[1] === kind)?.[0] ?? 'textarea' };
  }
}

function choicesSchema({ choices = [], untyped, titled }: FieldView): JsonObject {
  const isTitled = titled || choices.some(({ label }) => label !== undefined);
  return {
    ...(untyped ? {} : { type: 'string' }),
    ...(isTitled
      ? {
          oneOf: choices.map(({ value, label }) => ({
            const: value,
            ...(label === undefined ? {} : { title: label }),
          })),
        }
      : { enum: choices.map(({ value }) => value) }),
  };
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
const limitOf = (value: Json | undefined) => (isNumber(value) ? value : undefined);

/** Reads the JSON Schema of a field. Returns null if the builder could not write the same schema. */
export function viewOf(schema: Json): FieldView | null {
  if (!isObject(schema)) return null;
  const kind = kindOf(schema);
  if (kind === null) return null;
  const [min, max] = limitsOf(kind) ?? [];
  const view: FieldView = {
    kind,
    label: textOf(schema.title),
    help: textOf(schema.description),
    ...choicesOf(kind, schema),
  };
  if (schema.default !== undefined) view.default = schema.default;
  const lowest = min === undefined ? undefined : limitOf(schema[min]);
  const highest = max === undefined ? undefined : limitOf(schema[max]);
  if (lowest !== undefined) view.min = lowest;
  if (highest !== undefined) view.max = highest;
  if (typeof schema.format === 'string' && FORMATS.find(each => each[1] === kind)?.[0] !== schema.format)
    view.format = schema.format;
  const isWhole = isSame(schemaOf(view), schema) && (view.default === undefined || isValueOf(view, view.default));
  return isWhole ? view : null;
}

function kindOf(schema: JsonObject): FieldKind | null {
  const { type, format } = schema;
  if (schema.enum !== undefined || schema.oneOf !== undefined) return 'choice';
  switch (type) {
    case 'string':
      return format === undefined ? 'text' : (FORMATS.find(each => each[0] === format)?.[1] ?? null);
    case 'number':
    case 'integer':
      return type;
    case 'boolean':
      return 'yes_no';
    case 'array':
      return 'choices';
    default:
      return null;
  }
}

function choicesOf(kind: FieldKind, schema: JsonObject): Pick<FieldView, 'choices' | 'untyped' | 'repeats' | 'titled'> {
  if (kind !== 'choice' && kind !== 'choices') return {};
  const items = kind === 'choice' ? schema : schema.items;
  if (!isObject(items)) return {};
  const about = {
    ...(items.type === undefined ? { untyped: true as const } : {}),
    ...(kind === 'choices' && schema.uniqueItems === undefined ? { repeats: true as const } : {}),
  };
  if (isTexts(items.enum)) return { ...about, choices: items.enum.map(value => ({ value })) };
  if (!Array.isArray(items.oneOf)) return about;
  const choices = items.oneOf.filter(isObject).map(
    (each): Choice => ({
      value: textOf(each.const),
      ...(typeof each.title === 'string' ? { label: each.title } : {}),
    }),
  );
  const isTitled = choices.some(({ label }) => label !== undefined);
  return { ...about, choices, ...(isTitled ? {} : { titled: true as const }) };
}

/** Returns whether the builder's control for a default can hold a value. */
export function isValueOf({ kind, choices = [] }: FieldView, value: Json): boolean {
  const isChoice = (each: Json) => choices.some(choice => choice.value === each);
  switch (kind) {
    case 'number':
      return isNumber(value);
    case 'integer':
      return typeof value === 'bigint' || Number.isInteger(value);
    case 'yes_no':
      return typeof value === 'boolean';
    case 'choice':
      return isChoice(value);
    case 'choices':
      return Array.isArray(value) && value.every(isChoice);
    default:
      return typeof value === 'string';
  }
}

/** Returns a field converted to another kind, with its label, its help, and the settings that the new kind also has. */
export function withKind(view: FieldView, kind: FieldKind): FieldView {
  const isChoice = kind === 'choice' || kind === 'choices';
  const next: FieldView = { kind, label: view.label, help: view.help };
  if (isChoice) next.choices = view.choices ?? FIRST_CHOICES;
  if (limitsOf(kind)?.[0] === limitsOf(view.kind)?.[0]) {
    if (view.min !== undefined) next.min = view.min;
    if (view.max !== undefined) next.max = view.max;
  }
  return view.default !== undefined && isValueOf(next, view.default) ? { ...next, default: view.default } : next;
}

const FIRST_CHOICES: readonly Choice[] = [{ value: 'Option 1' }, { value: 'Option 2' }];

/** Returns a new field of a kind. */
export function newField(kind: FieldKind, label: string): FieldView {
  return withKind({ kind: 'yes_no', label, help: '' }, kind);
}

/** Returns a field with new choices. Its default is removed if that is no longer a choice. */
export function withChoices(view: FieldView, choices: readonly Choice[]): FieldView {
  const { default: before, ...rest } = view;
  const next = { ...rest, choices };
  if (before === undefined) return next;
  if (isValueOf(next, before)) return { ...next, default: before };
  if (!Array.isArray(before)) return next;
  const kept = before.filter(value => isValueOf({ ...next, kind: 'choice' }, value));
  return kept.length === 0 ? next : { ...next, default: kept };
}
