import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../platform/json.ts';
import { parseRequestJson, readNumber } from '../../platform/json-text.ts';
import { MAX_JSON_DEPTH } from '../../platform/storable-json.ts';
import type { JsonSchema } from '../parameters.ts';

/**
 * Returns the arguments of a tool in the form that its input schema requires (docs/specification/mcp.md#arguments): many clients
 * send null for absent fields, and objects, lists, numbers and booleans as text. Only a value whose type or literal the schema
 * refuses is changed, so arguments that are valid stay as they are. A value that fits in no form is returned unchanged, and the
 * operation refuses it.
 */
export function fitArguments(schema: JsonSchema, args: Record<string, unknown>): Record<string, unknown> {
  const fitted = new Fitting(schema).fit(schema, args, 0);
  return isObject(fitted) ? fitted : args;
}

/** Keywords that hold alternatives. */
const UNIONS = ['anyOf', 'oneOf'] as const;
/** The numbers that REST accepts in path and query parameters (parameters.ts), and integers of up to 64 bits. */
const NUMBER = /^-?(?:\d{1,20}|\d{1,15}\.\d{1,15})$/;
/** A text that no list of literals contains, because no text of a request contains NUL. */
const NO_LITERAL = '\0';

/** One pass over the arguments of a tool. `root` resolves `$ref`. */
class Fitting {
  readonly #root: JsonSchema;

  constructor(root: JsonSchema) {
    this.#root = root;
  }

  /** Returns the value that fits the schema; the same value if it need not change, because callers copy only changed values. */
  fit(given: unknown, value: unknown, depth: number): unknown {
    const schema = this.#resolve(given);
    // The operation refuses deeper values.
    if (schema === null || depth > MAX_JSON_DEPTH) return value;
    if (this.#accepts(schema, value)) return this.#fitMembers(schema, value, depth);
    for (const other of this.#otherForms(schema, value)) {
      if (this.#accepts(schema, other)) return this.#fitMembers(schema, other, depth);
    }
    return value;
  }

  /** Returns whether the schema allows a value by its type, or as a literal. Ignores the members of the value. */
  #accepts(given: unknown, value: unknown): boolean {
    const schema = this.#resolve(given);
    if (schema === null) return given !== false;
    const { type, allOf } = schema;
    if (typeof type === 'string' && !isOfType(type, value)) return false;
    if (Array.isArray(type) && !type.some(each => isOfType(each, value))) return false;
    if ('const' in schema && !isDeepStrictEqual(schema.const, value)) return false;
    if (Array.isArray(schema.enum) && !schema.enum.some(each => isDeepStrictEqual(each, value))) return false;
    if (Array.isArray(allOf) && !allOf.every(each => this.#accepts(each, value))) return false;
    return UNIONS.every(union => {
      const branches = schema[union];
      return !Array.isArray(branches) || branches.some(each => this.#accepts(each, value));
    });
  }

  /** Returns the values that a value of a refused type may stand for. */
  #otherForms(schema: JsonSchema, value: unknown): unknown[] {
    switch (typeof value) {
      case 'string':
        return valuesOfText(value);
      case 'number':
      case 'boolean':
      case 'bigint':
        // The value may stand for one of the schema's text literals, such as "true" in a filter. If the schema accepts any text,
        // a number is a mistake.
        return this.#accepts(schema, NO_LITERAL) ? [] : [String(value)];
      default:
        // Languages whose empty map is an empty list, such as PHP.
        return Array.isArray(value) && value.length === 0 ? [{}] : [];
    }
  }

  #fitMembers(schema: JsonSchema, value: unknown, depth: number): unknown {
    if (typeof value !== 'object' || value === null) return value;
    let fitted: unknown = Array.isArray(value)
      ? this.#fitItems(schema, value, depth)
      : this.#fitFields(schema, value as Record<string, unknown>, depth);
    if (Array.isArray(schema.allOf)) for (const each of schema.allOf) fitted = this.fit(each, fitted, depth + 1);
    for (const union of UNIONS) {
      const branches = schema[union];
      if (!Array.isArray(branches)) continue;
      const possible = branches.filter(each => this.#mayBe(each, fitted));
      // If several alternatives are possible, it is unknown which one was meant.
      if (possible.length === 1) fitted = this.fit(possible[0], fitted, depth + 1);
    }
    return fitted;
  }

  #fitItems(schema: JsonSchema, items: unknown[], depth: number): unknown[] {
    const first = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
    if (first.length === 0 && schema.items === undefined) return items;
    let copy: unknown[] | undefined;
    for (const [index, item] of items.entries()) {
      const fitted = this.fit(index < first.length ? first[index] : schema.items, item, depth + 1);
      if (Object.is(fitted, item)) continue;
      copy ??= [...items];
      copy[index] = fitted;
    }
    return copy ?? items;
  }

  #fitFields(schema: JsonSchema, fields: Record<string, unknown>, depth: number): Record<string, unknown> {
    const { properties, required, additionalProperties, patternProperties } = schema;
    const rest = patternProperties === undefined ? additionalProperties : undefined;
    if (properties === undefined && !isObject(rest)) return fields;
    const needed = new Set(Array.isArray(required) ? required : []);
    const changes = new Map<string, { value: unknown } | 'absent'>();
    for (const [name, value] of Object.entries(fields)) {
      const own = isObject(properties) && Object.hasOwn(properties, name);
      const field = own ? properties[name] : rest;
      if (field === undefined || typeof field === 'boolean') continue;
      if (value === null && !needed.has(name) && !this.#accepts(field, null)) changes.set(name, 'absent');
      else {
        const fitted = this.fit(field, value, depth + 1);
        if (!Object.is(fitted, value)) changes.set(name, { value: fitted });
      }
    }
    if (changes.size === 0) return fields;
    return Object.fromEntries(
      Object.entries(fields).flatMap(([name, value]) => {
        const change = changes.get(name);
        if (change === undefined) return [[name, value]];
        return change === 'absent' ? [] : [[name, change.value]];
      }),
    );
  }

  /** Returns whether a value may be meant for an alternative, judged by the names of its fields and by its literals. */
  #mayBe(given: unknown, value: unknown): boolean {
    const schema = this.#resolve(given);
    if (schema === null) return given !== false;
    if (!this.#accepts(schema, value)) return false;
    if (!isObject(value)) return true;
    const properties: Record<string, unknown> = isObject(schema.properties) ? schema.properties : {};
    const required = Array.isArray(schema.required) ? schema.required : [];
    if (!required.every(name => Object.hasOwn(value, String(name)))) return false;
    return Object.entries(value).every(([name, field]) => {
      if (!Object.hasOwn(properties, name)) return schema.additionalProperties !== false;
      const expected = this.#resolve(properties[name]);
      const isLiteral = expected !== null && ('const' in expected || Array.isArray(expected.enum));
      return !isLiteral || this.#accepts(expected, field);
    });
  }

  /** Returns a schema without `$ref`; null for `true`, `false`, and a reference that cannot be resolved. */
  #resolve(schema: unknown): JsonSchema | null {
    let found: unknown = schema;
    for (let hops = 0; hops < 10 && isObject(found) && typeof found.$ref === 'string'; hops++) {
      const reference: string = found.$ref;
      if (reference === '#') found = this.#root;
      else {
        const definitions = this.#root.$defs;
        found = isObject(definitions) ? definitions[reference.replace('#/$defs/', '')] : undefined;
      }
    }
    return isObject(found) && found.$ref === undefined ? found : null;
  }
}

function isOfType(type: unknown, value: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'integer':
      return typeof value === 'bigint' || Number.isInteger(value);
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint';
    default:
      return typeof value === type;
  }
}

/** Returns the object, list, number or boolean whose JSON a text is; empty for any other text. */
function valuesOfText(text: string): unknown[] {
  if (text === 'true' || text === 'false') return [text === 'true'];
  if (NUMBER.test(text)) {
    const number = readNumber(text);
    return Number.isNaN(Number(number)) ? [] : [number];
  }
  const json = text.trim();
  if (!json.startsWith('{') && !json.startsWith('[')) return [];
  try {
    return [parseRequestJson(json)];
  } catch {
    return [];
  }
}
