import { isObject, type Json, type JsonObject } from '../json.ts';
import { SchemaReader } from '../json-schema/expand.ts';
import { subschemasOf } from '../json-schema/references.ts';
import type { ModelProvider } from './providers.ts';

/** A schema as a provider takes it. `strict`: the provider can be asked to guarantee it. */
export type AdaptedSchema = { schema: JsonObject; strict: boolean };

/**
 * Adapts a schema to the keywords that a provider accepts. The adapted schema may lack constraints of the original, so answers are
 * checked against the original.
 */
export function adaptSchema(provider: ModelProvider, schema: JsonObject): AdaptedSchema {
  const plain = withObjectAtRoot(rewrite(schema, schema => withNullType(withoutSingleAllOf(schema))) as JsonObject);
  switch (provider) {
    case 'openai':
    case 'mistral':
    case 'openai_compatible': {
      const bare = rewrite(plain, closed) as JsonObject;
      return isStrict(bare, bare) ? { schema: bare, strict: true } : { schema: plain, strict: false };
    }
    case 'anthropic':
      // The library moves the constraints that Anthropic refuses into descriptions.
      return { schema: plain, strict: false };
    case 'google':
      return { schema: withDefs(rewrite(plain, ofGemini) as JsonObject), strict: false };
  }
}

/** Anthropic's tools and OpenAI's strict mode require an object at the root. Pydantic writes a recursive root as a reference. */
function withObjectAtRoot(root: JsonObject): JsonObject {
  if (root.$ref === undefined) return root;
  const { $defs, definitions, $schema, $id } = root;
  const { schema } = new SchemaReader(root).expand(root);
  const { title, description, ...rest } = schema;
  const kept = Object.entries({ $schema, $id, title, description, ...rest, $defs, definitions });
  return Object.fromEntries(kept.filter(([, value]) => value !== undefined)) as JsonObject;
}

/** Unwraps an `allOf` with one schema: OpenAPI and older Pydantic write it to add keywords to a reference. */
function withoutSingleAllOf(schema: JsonObject): JsonObject {
  const { allOf, ...rest } = schema;
  const [only] = Array.isArray(allOf) && allOf.length === 1 ? allOf : [];
  return isObject(only) && Object.keys(only).every(keyword => !(keyword in rest)) ? { ...rest, ...only } : schema;
}

/** Writes OpenAPI's `nullable` as JSON Schema does. */
function withNullType({ nullable, ...schema }: JsonObject): JsonObject {
  if (nullable !== true) return schema;
  const { type, enum: choices, title, description, $defs, definitions, ...rest } = schema;
  if (typeof type === 'string' && choices === undefined) return { ...schema, type: [type, 'null'] };
  const inner = { type, enum: choices, ...rest };
  const defined = (fields: { [key: string]: Json | undefined }) =>
    Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;
  return defined({ title, description, anyOf: [defined(inner), { type: 'null' }], $defs, definitions });
}

/** Rewrites every schema within a schema, innermost first. */
function rewrite(schema: Json, change: (schema: JsonObject) => JsonObject): Json {
  if (!isObject(schema)) return schema;
  const inner = new Map([...subschemasOf(schema)].map(({ place, schema }) => [place, rewrite(schema, change)]));
  const out = Object.entries(schema).map(([keyword, value]): [string, Json] => {
    const whole = inner.get(keyword);
    if (whole !== undefined) return [keyword, whole];
    if (Array.isArray(value)) return [keyword, value.map((item, at) => inner.get(`${keyword}[${at}]`) ?? item)];
    if (!isObject(value)) return [keyword, value];
    const items = Object.entries(value).map(([name, item]) => [name, inner.get(`${keyword}.${name}`) ?? item]);
    return [keyword, Object.fromEntries(items) as JsonObject];
  });
  return change(Object.fromEntries(out));
}

/** Annotations that OpenAI's strict mode refuses. */
const ANNOTATIONS = new Set([
  'default',
  'example',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  '$comment',
  'id',
  '$id',
  '$schema',
]);

/** Removes annotations and closes objects: OpenAI's strict mode requires both, and other modes allow them. */
function closed(schema: JsonObject): JsonObject {
  if (schema.$ref !== undefined) {
    const { title: _, description: __, ...rest } = withoutKeys(schema, ANNOTATIONS);
    return rest;
  }
  const bare = withoutKeys(schema, ANNOTATIONS);
  return isObject(bare.properties) && bare.additionalProperties === undefined
    ? { ...bare, additionalProperties: false }
    : bare;
}

const withoutKeys = (schema: JsonObject, keys: ReadonlySet<string>): JsonObject =>
  Object.fromEntries(Object.entries(schema).filter(([keyword]) => !keys.has(keyword)));

/** The keywords that Gemini accepts (GenerationConfig.responseJsonSchema). The library writes `const` as `enum`. */
const GEMINI_KEYWORDS = new Set([
  '$id',
  '$defs',
  'definitions',
  '$ref',
  '$anchor',
  'type',
  'format',
  'title',
  'description',
  'enum',
  'const',
  'items',
  'prefixItems',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
  'anyOf',
  'oneOf',
  'properties',
  'additionalProperties',
  'required',
  'propertyOrdering',
]);

function ofGemini(schema: JsonObject): JsonObject {
  const known = Object.entries(schema).filter(([keyword]) => GEMINI_KEYWORDS.has(keyword));
  // Gemini allows only keywords with `$` next to a reference.
  const kept = schema.$ref === undefined ? known : known.filter(([keyword]) => /^\$|^definitions$/.test(keyword));
  const out = Object.fromEntries(kept);
  return typeof out.$ref === 'string' ? { ...out, $ref: out.$ref.replace(/^#\/definitions\//, '#/$defs/') } : out;
}

/** Gemini accepts `$defs`, but not the older `definitions`. */
function withDefs({ definitions, ...root }: JsonObject): JsonObject {
  if (!isObject(definitions)) return root;
  return { ...root, $defs: { ...definitions, ...(isObject(root.$defs) ? root.$defs : {}) } };
}

/** The keywords that OpenAI's strict mode accepts (Structured Outputs, Supported schemas). It refuses requests with any other. */
const STRICT_KEYWORDS = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'enum',
  'const',
  'anyOf',
  '$ref',
  '$defs',
  'definitions',
  'title',
  'description',
  'pattern',
  'format',
  'multipleOf',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minItems',
  'maxItems',
]);
const STRICT_FORMATS = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']);

/**
 * Returns whether OpenAI's strict mode accepts a schema: each object requires all its properties and allows no others. Other schemas
 * are sent without strict mode, because OpenAI would refuse them.
 */
function isStrict(schema: Json, root: JsonObject): boolean {
  if (!isObject(schema)) return false;
  const { $ref, type, properties, required, additionalProperties, format } = schema;
  const keywords = Object.keys(schema).filter(keyword => keyword !== '$defs' && keyword !== 'definitions');
  if (!keywords.every(keyword => STRICT_KEYWORDS.has(keyword))) return false;
  if ($ref !== undefined && keywords.length > 1) return false;
  if (!['type', 'anyOf', '$ref', 'enum', 'const'].some(keyword => schema[keyword] !== undefined)) return false;
  if (schema === root && (type !== 'object' || schema.anyOf !== undefined)) return false;
  if (typeof format === 'string' && !STRICT_FORMATS.has(format)) return false;
  if (type === 'object' || properties !== undefined) {
    const names = isObject(properties) ? Object.keys(properties) : [];
    if (additionalProperties !== false || !Array.isArray(required)) return false;
    if (!names.every(name => required.includes(name))) return false;
  }
  for (const { keyword, schema: inner } of subschemasOf(schema)) {
    if (keyword !== 'additionalProperties' && !isStrict(inner, root)) return false;
  }
  return true;
}
