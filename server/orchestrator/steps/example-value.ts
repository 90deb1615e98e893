import { isObject } from '../../platform/json.ts';
import { SchemaReader } from '../../platform/json-schema/expand.ts';
import type { JsonMap, JsonValue } from '../core/index.ts';

const MAX_DEPTH = 8;
const MAX_PROPERTIES = 100;
const MAX_VALUES = 1_000;

/**
 * Returns a value that a JSON Schema describes. An example or default of the schema is used if it has one. References
 * are followed.
 */
export function exampleValue(schema: unknown): JsonValue {
  return isObject(schema) ? new Example(schema as JsonMap).of(schema as JsonMap, 0) : null;
}

class Example {
  readonly #reader: SchemaReader;
  /** The schemas that contain the current one. An optional part that refers to one of them is left out. */
  readonly #open = new Set<JsonMap>();
  #left = MAX_VALUES;

  constructor(root: JsonMap) {
    this.#reader = new SchemaReader(root);
  }

  of(written: JsonValue | undefined, depth: number): JsonValue {
    if (!isObject(written) || depth > MAX_DEPTH || this.#left < 0) return null;
    const { schema, node } = this.#reader.expand(written as JsonMap);
    const { examples, example, default: preset, const: constant, enum: options, oneOf, anyOf } = schema;
    const [given] = [first(examples), example, preset, constant, first(options)].filter(value => value !== undefined);
    if (given !== undefined) return given;
    const isOuter = !this.#open.has(node);
    this.#open.add(node);
    const choice = first(oneOf) ?? first(anyOf);
    const value = choice === undefined ? this.#ofType(schema, depth) : this.of(choice, depth + 1);
    if (isOuter) this.#open.delete(node);
    return value;
  }

  #isOpen(schema: JsonValue | undefined): boolean {
    return this.#open.has(this.#reader.expand(schema).node);
  }

  #ofType(schema: JsonMap, depth: number): JsonValue {
    const { type, properties, items, minimum, format } = schema;
    switch (Array.isArray(type) ? type[0] : (type ?? (isObject(properties) ? 'object' : undefined))) {
      case 'object':
        return this.#object(schema, depth);
      case 'array':
        return items === undefined || this.#isOpen(items) ? [] : [this.of(items, depth + 1)];
      case 'string':
        return textOf(format);
      case 'integer':
      case 'number':
        return typeof minimum === 'number' ? minimum : 1;
      case 'boolean':
        return true;
      default:
        return null;
    }
  }

  #object({ properties, required }: JsonMap, depth: number): JsonMap {
    const needed = Array.isArray(required) ? required : [];
    const fields = Object.entries(isObject(properties) ? properties : {})
      .filter(([name, inner]) => needed.includes(name) || !this.#isOpen(inner))
      .slice(0, MAX_PROPERTIES);
    this.#left -= fields.length;
    if (this.#left < 0) return {};
    return Object.fromEntries(fields.map(([name, inner]) => [name, this.of(inner, depth + 1)]));
  }
}

const first = (list: JsonValue | undefined): JsonValue | undefined => (Array.isArray(list) ? list[0] : undefined);

function textOf(format: JsonValue | undefined): string {
  switch (format) {
    case 'date-time':
      return '2026-01-01T00:00:00.000Z';
    case 'date':
      return '2026-01-01';
    case 'email':
      return 'someone@example.com';
    case 'uri':
      return 'https://example.com/';
    case 'time':
      return '08:00';
    case 'duration':
      return 'PT15M';
    case 'url':
      return 'https://example.com/';
    case 'uuid':
      return '00000000-0000-7000-8000-000000000000';
    default:
      return 'example';
  }
}
