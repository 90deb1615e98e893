import { isObject } from '../../platform/json.ts';
import type { JsonMap, JsonValue } from '../core/index.ts';

const MAX_DEPTH = 8;
const MAX_PROPERTIES = 100;

/** A value that a JSON Schema describes: its own example or default if it has one. References are not followed. */
export function exampleValue(schema: unknown, depth = 0): JsonValue {
  if (!isObject(schema) || depth > MAX_DEPTH) return null;
  const { examples, default: preset, const: constant, enum: options, oneOf, anyOf } = schema as JsonMap;
  const [given] = [Array.isArray(examples) ? examples[0] : undefined, preset, constant, first(options)].filter(
    value => value !== undefined,
  );
  if (given !== undefined) return given;
  const choice = first(oneOf) ?? first(anyOf);
  if (choice !== undefined) return exampleValue(choice, depth + 1);
  return ofType(schema as JsonMap, depth);
}

const first = (list: JsonValue | undefined): JsonValue | undefined => (Array.isArray(list) ? list[0] : undefined);

function ofType(schema: JsonMap, depth: number): JsonValue {
  const { type, properties, items, minimum, format } = schema;
  switch (Array.isArray(type) ? type[0] : (type ?? (isObject(properties) ? 'object' : undefined))) {
    case 'object':
      return Object.fromEntries(
        Object.entries(isObject(properties) ? properties : {})
          .slice(0, MAX_PROPERTIES)
          .map(([name, inner]) => [name, exampleValue(inner, depth + 1)]),
      );
    case 'array':
      return items === undefined ? [] : [exampleValue(items, depth + 1)];
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
    case 'uuid':
      return '00000000-0000-7000-8000-000000000000';
    default:
      return 'example';
  }
}
