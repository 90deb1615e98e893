import { isObject, type Json, type JsonObject } from '../json.ts';

/** The keywords whose value is one schema; that of `items` may be a list as well. */
export const SCHEMA_KEYWORDS: ReadonlySet<string> = new Set([
  'items',
  'additionalItems',
  'unevaluatedItems',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
]);
export const SCHEMA_LIST_KEYWORDS: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items']);
/** The keywords whose value names schemas. `dependencies` may also name lists of names. */
export const SCHEMA_MAP_KEYWORDS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  'dependencies',
  '$defs',
  'definitions',
]);
/** Keywords that apply to the same value as the schema around them. */
const IN_PLACE = new Set(['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas', 'dependencies']);

/** The base address of a schema without an `$id`. Nothing is ever fetched from an address. */
const NO_ADDRESS = 'schema:///';

/** `missing`: the document has no such part. `external`: it points to another document. */
export type Resolved = { kind: 'schema'; schema: Json } | { kind: 'missing' | 'external' };

/** Returns the schemas directly within a schema, each with its keyword and its place beneath the schema. */
export function* subschemasOf(schema: JsonObject): Generator<{ keyword: string; place: string; schema: Json }> {
  for (const [keyword, value] of Object.entries(schema)) {
    if (SCHEMA_LIST_KEYWORDS.has(keyword) && Array.isArray(value)) {
      for (const [index, item] of value.entries()) yield { keyword, place: `${keyword}[${index}]`, schema: item };
    } else if (SCHEMA_KEYWORDS.has(keyword)) yield { keyword, place: keyword, schema: value };
    else if (SCHEMA_MAP_KEYWORDS.has(keyword) && isObject(value)) {
      for (const [name, item] of Object.entries(value)) {
        if (!Array.isArray(item)) yield { keyword, place: `${keyword}.${name}`, schema: item };
      }
    } else if (keyword === 'components' && isObject(value) && isObject(value.schemas)) {
      // OpenAPI keeps the schemas of a document here.
      for (const [name, item] of Object.entries(value.schemas)) {
        yield { keyword, place: `components.schemas.${name}`, schema: item };
      }
    }
  }
}

/**
 * The references of a schema: JSON pointers, `$anchor`s and `$id`s within the document, relative to the nearest `$id` (JSON
 * Schema 2020-12, 8.2). A reference to another document is not followed.
 */
export class References {
  readonly #bases = new Map<JsonObject, string>();
  readonly #resources = new Map<string, JsonObject>();
  readonly #anchors = new Map<string, JsonObject>();
  readonly #resolved = new Map<JsonObject, Resolved>();

  constructor(root: JsonObject) {
    this.#resources.set(NO_ADDRESS, root);
    this.#register(root, NO_ADDRESS);
  }

  /** Returns the target of a schema's `$ref`. */
  resolve(schema: JsonObject): Resolved {
    const known = this.#resolved.get(schema);
    if (known !== undefined) return known;
    const resolved = this.#resolve(schema);
    this.#resolved.set(schema, resolved);
    return resolved;
  }

  #resolve(schema: JsonObject): Resolved {
    const base = this.#bases.get(schema) ?? NO_ADDRESS;
    const url = typeof schema.$ref === 'string' ? URL.parse(schema.$ref, base) : null;
    if (url === null) return { kind: 'missing' };
    const fragment = decodeFragment(url.hash.slice(1));
    url.hash = '';
    const resource = this.#resources.get(url.href);
    if (resource === undefined) return { kind: 'external' };
    const isPointer = fragment === '' || fragment?.startsWith('/');
    const target = isPointer ? resolvePointer(resource, fragment ?? '') : this.#anchors.get(`${url.href}#${fragment}`);
    if (typeof target === 'boolean') return { kind: 'schema', schema: target };
    if (!isObject(target)) return { kind: 'missing' };
    this.#register(target, url.href);
    return { kind: 'schema', schema: target };
  }

  /** Iterative: a schema from outside may be nested deeper than the stack. */
  #register(root: JsonObject, base: string): void {
    const pending: [Json, string][] = [[root, base]];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const [schema, outer] = next;
      if (!isObject(schema) || this.#bases.has(schema)) continue;
      const own = this.#name(schema, outer);
      this.#bases.set(schema, own);
      for (const inner of subschemasOf(schema)) pending.push([inner.schema, own]);
    }
  }

  /** Notes the names that a schema gives itself, and returns the address from which its references start. */
  #name(schema: JsonObject, outer: string): string {
    const { $id, $anchor, $dynamicAnchor } = schema;
    const address = typeof $id === 'string' ? URL.parse($id, outer) : null;
    // Up to draft 7 an `$id` that is a fragment was an anchor.
    const isAnchor = typeof $id === 'string' && $id.startsWith('#');
    if (address !== null) address.hash = '';
    const own = address === null || isAnchor ? outer : address.href;
    if (own !== outer && !this.#resources.has(own)) this.#resources.set(own, schema);
    for (const name of [$anchor, $dynamicAnchor, isAnchor ? $id.slice(1) : undefined]) {
      if (typeof name === 'string') this.#anchors.set(`${own}#${name}`, schema);
    }
    return own;
  }
}

function decodeFragment(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Resolves a JSON pointer (RFC 6901), such as `/$defs/name`. */
function resolvePointer(root: Json, pointer: string): Json | undefined {
  let value: Json | undefined = root;
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as JsonObject)[name];
  }
  return value;
}

/** Returns a schema whose evaluation would never end, because it refers to itself for the same value; undefined if there is none. */
export function endlessSchema(root: JsonObject, references: References): JsonObject | undefined {
  const visited = new Map<JsonObject, 'open' | 'done'>();
  const visit = (schema: Json, from: JsonObject): JsonObject | undefined => {
    if (!isObject(schema)) return undefined;
    const state = visited.get(schema);
    if (state !== undefined) return state === 'open' ? from : undefined;
    visited.set(schema, 'open');
    const target = schema.$ref === undefined ? undefined : references.resolve(schema);
    let found = target?.kind === 'schema' ? visit(target.schema, schema) : undefined;
    for (const inner of subschemasOf(schema)) if (IN_PLACE.has(inner.keyword)) found ??= visit(inner.schema, schema);
    visited.set(schema, 'done');
    return found;
  };
  const pending: Json[] = [root];
  const seen = new Set<Json>();
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (!isObject(next) || seen.has(next)) continue;
    seen.add(next);
    const found = visit(next, next);
    if (found !== undefined) return found;
    for (const inner of subschemasOf(next)) pending.push(inner.schema);
  }
  return undefined;
}
