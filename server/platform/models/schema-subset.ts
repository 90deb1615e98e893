import { isObject, type Json, type JsonObject } from '../json.ts';
import { SCHEMA_TYPES } from '../json-schema/value.ts';
import type { ModelProvider } from './providers.ts';

/** Beyond this size, the parts of a schema accept anything: the model gets fewer details, and the arguments are checked anyway. */
const MAX_NODES = 5_000;
const MAX_DEPTH = 30;

/** Names that programming languages have for them. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  int: 'integer',
  long: 'integer',
  float: 'number',
  double: 'number',
  str: 'string',
  text: 'string',
  bool: 'boolean',
  dict: 'object',
  map: 'object',
  list: 'array',
};
const TEXTS = ['title', 'description', 'format', 'pattern'] as const;
const NUMBERS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const;
const COUNTS = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'] as const;
/** Keywords with one schema that only some providers take. */
const CONDITIONS = ['contains', 'propertyNames'] as const;

/** The keywords that Gemini documents for JSON Schema; it refuses the whole request for any other. */
const GEMINI = new Set([
  'type',
  'format',
  'title',
  'description',
  'enum',
  'items',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
  'anyOf',
  'properties',
  'additionalProperties',
  'required',
]);
const GEMINI_FORMATS = new Set(['date-time', 'date', 'time']);

/** Integers that a double cannot hold may be `bigint`. */
const isNumber = (value: Json | undefined): value is number =>
  typeof value === 'number' || typeof (value as unknown) === 'bigint';

/** Resolves `#/a/b` in a document; undefined if it leads nowhere, or leaves the document. */
export function resolveReference(root: Json, reference: string): Json | undefined {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let value: Json | undefined = root;
  for (const part of reference.slice(2).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = Reflect.get(value, name) as Json;
  }
  return value;
}

/**
 * Rewrites the parts of a tool's schema so that a provider takes them: only keywords that it knows, with values that are valid in
 * draft 2020-12. Leaving parts out makes a schema wider, never narrower. `not`, `if` and `oneOf` are removed, because widening a
 * part of them would make the whole schema narrower.
 */
export class SchemaSubset {
  readonly #root: JsonObject;
  readonly #provider: ModelProvider;
  /** The definitions that are referred to, by their reference, with the names that they get. */
  readonly #names = new Map<string, string>();
  #nodes = 0;

  constructor(root: JsonObject, provider: ModelProvider) {
    this.#root = root;
    this.#provider = provider;
  }

  /** Returns the definitions that the schemas rewritten so far refer to, or undefined. */
  definitions(): JsonObject | undefined {
    const done = new Map<string, Json>();
    // The loop also visits the names that rewriting adds.
    for (const [reference, name] of this.#names)
      done.set(name, this.schema(resolveReference(this.#root, reference)) ?? {});
    return done.size === 0 ? undefined : Object.fromEntries(done);
  }

  /** Returns a schema for the provider; null for one that accepts nothing. `within`: the references that are being resolved. */
  schema(value: Json | undefined, depth = 0, within: readonly string[] = []): JsonObject | null {
    if (value === false || (isObject(value) && isAnything(value.not))) return null;
    if (!isObject(value) || depth > MAX_DEPTH || ++this.#nodes > MAX_NODES) return {};
    if (typeof value.$ref === 'string') return this.#referred(value, value.$ref, depth, within);
    const inner = (one: Json | undefined) => this.schema(one, depth + 1, within);
    const out: JsonObject = {};
    simpleKeywords(value, out);
    this.#properties(value, out, inner);
    itemsOf(value, out, inner);
    const choices = [value.anyOf, value.oneOf].find(list => Array.isArray(list));
    for (const [keyword, list] of [
      ['anyOf', choices],
      ['allOf', value.allOf],
    ] as const) {
      const kept = Array.isArray(list) ? list.map(inner).filter(one => one !== null) : [];
      if (kept.length > 0) out[keyword] = kept;
    }
    if (this.#takesConditions()) this.#conditions(value, out, inner);
    // Fields matched by a pattern that is left out would otherwise count as additional.
    else if (isObject(value.patternProperties)) delete out.additionalProperties;
    return this.#provider === 'google' ? forGemini(out) : out;
  }

  #takesConditions(): boolean {
    return this.#provider === 'anthropic' || this.#provider === 'openai' || this.#provider === 'mistral';
  }

  #referred(value: JsonObject, reference: string, depth: number, within: readonly string[]): JsonObject | null {
    const { $ref: _, ...beside } = value;
    const target = resolveReference(this.#root, reference);
    const isDefinition = /^#\/(\$defs|definitions)\/[^/]+$/.test(reference);
    if (isDefinition && isObject(target) && this.#provider !== 'google') {
      const { description } = beside;
      return {
        $ref: `#/$defs/${this.#nameOf(reference)}`,
        ...(typeof description === 'string' ? { description } : {}),
      };
    }
    if (target === undefined || within.includes(reference)) return this.schema(beside, depth + 1, within);
    if (!isObject(target)) return this.schema(target, depth + 1, within);
    return this.schema({ ...target, ...beside }, depth + 1, [...within, reference]);
  }

  #nameOf(reference: string): string {
    const known = this.#names.get(reference);
    if (known !== undefined) return known;
    const taken = new Set(this.#names.values());
    const wanted = reference.slice(reference.lastIndexOf('/') + 1).replace(/[^A-Za-z0-9_.-]/g, '_');
    let name = wanted;
    for (let number = 2; taken.has(name); number++) name = `${wanted}_${number}`;
    this.#names.set(reference, name);
    return name;
  }

  #properties(value: JsonObject, out: JsonObject, inner: (one: Json | undefined) => JsonObject | null): void {
    const { properties, required, additionalProperties } = value;
    const given = isObject(properties) ? Object.entries(properties) : [];
    // Anything but a schema is a mistake of the author, such as a keyword in the wrong place.
    const schemas = given.filter(([, schema]) => isObject(schema) || typeof schema === 'boolean');
    const kept = new Map(schemas.flatMap(([name, schema]) => pairOf(name, inner(schema))));
    const names = Array.isArray(required) ? required.filter(name => typeof name === 'string') : [];
    const refused = new Set(schemas.filter(([name]) => !kept.has(name)).map(([name]) => name));
    for (const name of names) if (!kept.has(name) && !refused.has(name)) kept.set(name, {});
    if (isObject(properties) || kept.size > 0) out.properties = Object.fromEntries(kept);
    const declared = [...new Set(names)].filter(name => kept.has(name));
    if (declared.length > 0) out.required = declared;
    if (typeof additionalProperties === 'boolean') out.additionalProperties = additionalProperties;
    else if (isObject(additionalProperties)) {
      const others = inner(additionalProperties);
      out.additionalProperties = others === null ? false : Object.keys(others).length === 0 ? true : others;
    }
  }

  #conditions(value: JsonObject, out: JsonObject, inner: (one: Json | undefined) => JsonObject | null): void {
    for (const keyword of CONDITIONS) {
      const kept = isObject(value[keyword]) ? inner(value[keyword]) : null;
      if (kept !== null) out[keyword] = kept;
    }
    const { patternProperties } = value;
    if (!isObject(patternProperties)) return;
    out.patternProperties = Object.fromEntries(
      Object.entries(patternProperties).flatMap(([pattern, schema]) => pairOf(pattern, inner(schema))),
    );
  }
}

const pairOf = (name: string, schema: JsonObject | null): [string, JsonObject][] =>
  schema === null ? [] : [[name, schema]];
const isAnything = (schema: Json | undefined): boolean =>
  schema === true || (isObject(schema) && Object.keys(schema).length === 0);

function simpleKeywords(value: JsonObject, out: JsonObject): void {
  const types = (Array.isArray(value.type) ? value.type : [value.type]).flatMap(typeOf);
  if (types.length > 0) out.type = types.length === 1 ? (types[0] ?? '') : [...new Set(types)];
  for (const keyword of TEXTS) if (typeof value[keyword] === 'string') out[keyword] = value[keyword];
  for (const keyword of NUMBERS) if (isNumber(value[keyword])) out[keyword] = value[keyword];
  for (const keyword of COUNTS) {
    const count = value[keyword];
    if (Number.isInteger(count) && Number(count) >= 0) out[keyword] = count as number;
  }
  // Draft 4 says with a boolean whether a bound itself is excluded.
  if (value.exclusiveMinimum === true && isNumber(value.minimum)) out.exclusiveMinimum = value.minimum;
  if (value.exclusiveMaximum === true && isNumber(value.maximum)) out.exclusiveMaximum = value.maximum;
  if (Array.isArray(value.enum) && value.enum.length > 0) out.enum = value.enum;
  if (value.const !== undefined) out.const = value.const;
  if (value.default !== undefined) out.default = value.default;
  if (Array.isArray(value.examples)) out.examples = value.examples;
  if (typeof value.uniqueItems === 'boolean') out.uniqueItems = value.uniqueItems;
}

function typeOf(name: Json | undefined): string[] {
  if (typeof name !== 'string') return [];
  const lower = name.toLowerCase();
  const known = SCHEMA_TYPES.has(lower) ? lower : TYPE_NAMES[lower];
  return known === undefined ? [] : [known];
}

/**
 * Gives a list one schema for its items: OpenAI refuses lists without one, and draft 2020-12 does not allow a list of schemas.
 */
function itemsOf(value: JsonObject, out: JsonObject, inner: (one: Json | undefined) => JsonObject | null): void {
  const { items, prefixItems } = value;
  const tuple = [prefixItems, items].flatMap(list => (Array.isArray(list) ? list : []));
  if (tuple.length > 0) {
    const rest = Array.isArray(items) ? value.additionalItems : items;
    const isBounded = rest === false || isObject(rest) || Number(value.maxItems ?? Number.NaN) <= tuple.length;
    const schemas = [...tuple, ...(isObject(rest) ? [rest] : [])].map(inner).filter(one => one !== null);
    const either = schemas.length === 1 ? (schemas[0] ?? {}) : { anyOf: schemas };
    out.items = isBounded && schemas.length > 0 ? either : {};
  } else if (items !== undefined) out.items = inner(items) ?? {};
  else if (out.type === 'array' || (Array.isArray(out.type) && out.type.includes('array'))) out.items = {};
}

/** Returns the nearest schema in the subset that Gemini accepts. */
function forGemini(schema: JsonObject): JsonObject {
  const { allOf, anyOf, const: constant, exclusiveMinimum, exclusiveMaximum, ...rest } = schema;
  const parts = Array.isArray(allOf) ? allOf.filter(isObject) : [];
  let merged: JsonObject = rest;
  for (const part of parts) merged = mergeSchemas(merged, part);
  const choices = anyOf ?? merged.anyOf;
  const values = constant === undefined ? merged.enum : [constant];
  const out: JsonObject = {};
  for (const [keyword, value] of Object.entries(merged)) if (GEMINI.has(keyword)) out[keyword] = value;
  if (out.minimum === undefined && isNumber(exclusiveMinimum)) out.minimum = exclusiveMinimum;
  if (out.maximum === undefined && isNumber(exclusiveMaximum)) out.maximum = exclusiveMaximum;
  if (choices !== undefined) out.anyOf = choices;
  delete out.enum;
  // Gemini supports enumerations of strings and numbers. Other enumerations appear only in the description.
  if (Array.isArray(values) && values.every(one => typeof one === 'string' || isNumber(one))) out.enum = values;
  if (typeof out.format === 'string' && !GEMINI_FORMATS.has(out.format)) delete out.format;
  return out;
}

/** Returns a schema with the keywords of both; the properties of both, and the first's where both have a keyword. */
export function mergeSchemas(first: JsonObject, second: JsonObject): JsonObject {
  const merged: JsonObject = { ...second, ...first };
  if (isObject(first.properties) && isObject(second.properties)) {
    const properties = new Map(Object.entries(second.properties));
    for (const [name, schema] of Object.entries(first.properties)) {
      const other = properties.get(name);
      properties.set(name, isObject(other) && isObject(schema) ? mergeSchemas(schema, other) : schema);
    }
    merged.properties = Object.fromEntries(properties);
  }
  if (Array.isArray(first.required) && Array.isArray(second.required)) {
    merged.required = [...new Set([...first.required, ...second.required])];
  }
  return merged;
}
