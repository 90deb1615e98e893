import { z } from 'zod';
import type { ErrorDetail } from '../platform/errors.ts';
import { isObject } from '../platform/json.ts';

/** The possible values of a path or query parameter after conversion. */
export type Scalar = 'string' | 'integer' | 'number' | 'boolean';
export type ParameterType = { scalars: ReadonlySet<Scalar>; list: boolean };
/** A JSON Schema as zod writes it; only some keywords are read here. */
export type JsonSchema = { [keyword: string]: unknown };

const isSchema = (value: unknown): value is JsonSchema => isObject(value);

const schemaCache = { input: new WeakMap<z.ZodType, JsonSchema>(), output: new WeakMap<z.ZodType, JsonSchema>() };

/** Returns the JSON Schema of a schema from the cache: several surfaces describe the same hundreds of schemas. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const known = schemaCache[io].get(schema);
  if (known !== undefined) return known;
  const written: JsonSchema = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  schemaCache[io].set(schema, written);
  return written;
}

/**
 * Returns the JSON Schema (2020-12) of a caller's input, which all callers share. Throws for a schema that JSON Schema
 * cannot express.
 */
export const inputJsonSchema = (schema: z.ZodType): JsonSchema => jsonSchema(schema, 'input');

/** Returns the JSON Schema (2020-12) of an answer, which all callers share. */
export const outputJsonSchema = (schema: z.ZodType): JsonSchema => jsonSchema(schema, 'output');

/** Returns the fields of a strict object; null for any other schema. */
export function strictFields(schema: z.ZodType): Map<string, z.ZodType> | null {
  if (!(schema instanceof z.ZodObject && schema.def.catchall instanceof z.ZodNever)) return null;
  return new Map(Object.entries(schema.shape as Record<string, z.ZodType>));
}

/** Returns how a parameter is read from text; null if text cannot represent it (an object). */
export function parameterType(field: z.ZodType): ParameterType | null {
  const schema = inputJsonSchema(field);
  return typeOf(schema, schema);
}

/** `root` resolves `$ref`. */
function typeOf(schema: JsonSchema, root: JsonSchema): ParameterType | null {
  const resolved = resolve(schema, root);
  if (resolved.type === 'array') {
    const item = isSchema(resolved.items) ? typeOf(resolved.items, root) : null;
    return item && !item.list ? { scalars: item.scalars, list: true } : null;
  }
  const alternatives = resolved.anyOf ?? resolved.oneOf;
  if (Array.isArray(alternatives)) {
    const scalars = new Set<Scalar>();
    for (const alternative of alternatives.filter(isSchema)) {
      if (resolve(alternative, root).type === 'null') continue;
      const type = typeOf(alternative, root);
      if (!type || type.list) return null;
      for (const scalar of type.scalars) scalars.add(scalar);
    }
    return { scalars, list: false };
  }
  const scalars = new Set<Scalar>();
  for (const type of scalarTypes(resolved)) {
    if (type === 'null') continue;
    if (type !== 'string' && type !== 'integer' && type !== 'number' && type !== 'boolean') return null;
    scalars.add(type);
  }
  return scalars.size > 0 ? { scalars, list: false } : null;
}

/** Converts the text of a parameter to a type of its schema; returns an error detail if it fits none of them. */
export function readParameter(name: string, text: string, type: ParameterType): { value: unknown } | ErrorDetail {
  const { scalars } = type;
  if (scalars.has('integer') && /^-?\d{1,15}$/.test(text)) return { value: Number(text) };
  if (scalars.has('number') && /^-?\d{1,15}(\.\d{1,15})?$/.test(text)) return { value: Number(text) };
  if (scalars.has('boolean') && (text === 'true' || text === 'false')) return { value: text === 'true' };
  if (scalars.has('string')) return { value: text };
  return { path: name, message: `must be ${[...scalars].map(article).join(' or ')}` };
}

const article = (scalar: Scalar): string =>
  scalar === 'integer' ? 'an integer' : scalar === 'boolean' ? 'true or false' : `a ${scalar}`;

function scalarTypes(schema: JsonSchema): unknown[] {
  if (Array.isArray(schema.type)) return schema.type;
  if (schema.type !== undefined) return [schema.type];
  const literals = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : [];
  return [...new Set(literals.map(literal => (literal === null ? 'null' : typeof literal)))];
}

function resolve(schema: JsonSchema, root: JsonSchema): JsonSchema {
  const reference = schema.$ref;
  if (typeof reference !== 'string') return schema;
  const definitions = isSchema(root.$defs) ? root.$defs : {};
  const target = definitions[reference.replace('#/$defs/', '')];
  return isSchema(target) ? resolve(target, root) : schema;
}
