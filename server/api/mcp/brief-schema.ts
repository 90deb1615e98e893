import { Id, Instant, Timestamp } from '../../operation/wire.ts';
import type { JsonMap, JsonValue } from '../../orchestrator/core/index.ts';
import { isObject } from '../../platform/json.ts';

/** Keywords that a model does not need in order to write arguments: the service checks them by the whole schema. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...['examples', 'minimum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'propertyNames'],
]);
/** Keywords whose value is a schema, a list of schemas, or schemas by name. */
const ONE: ReadonlySet<string> = new Set(['items', 'additionalProperties', 'not', 'contains']);
const LIST: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const NAMED: ReadonlySet<string> = new Set(['properties', '$defs', 'patternProperties']);

/** The descriptions of all ids and times, which are useless to a model. */
const KNOWN: ReadonlySet<unknown> = new Set([Id, Instant.in, Timestamp].map(each => each.meta()?.description));
/** Bounds of the type itself. */
const MAX_INT = 2 ** 31 - 1;

/** Returns a JSON Schema without redundant and limiting keywords: examples, lengths, and patterns that repeat the format. */
export function briefSchema(schema: JsonMap): JsonMap {
  const kept = Object.entries(schema).filter(([key, value]) => !LEFT_OUT.has(key) && !isIdle(key, value, schema));
  return Object.fromEntries(kept.map(([key, value]) => [key, briefValue(key, value)]));
}

/** Returns whether a keyword with this value gives a model no information. */
function isIdle(key: string, value: JsonValue, { format }: JsonMap): boolean {
  switch (key) {
    case 'pattern':
      return format !== undefined || value === NOT_BLANK;
    case 'description':
      return KNOWN.has(value);
    case 'additionalProperties':
      return value === false;
    case 'required':
      return Array.isArray(value) && value.length === 0;
    case 'maximum':
      return typeof value === 'number' && value >= MAX_INT;
    default:
      return false;
  }
}

const NOT_BLANK = '\\S';
const brief = (value: JsonValue): JsonValue => (isObject(value) ? briefSchema(value) : value);

function briefValue(key: string, value: JsonValue): JsonValue {
  if (ONE.has(key)) return brief(value);
  if (LIST.has(key) && Array.isArray(value)) return value.map(brief);
  if (!NAMED.has(key) || !isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, brief(each)]));
}
