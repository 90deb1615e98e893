import { type Schema, Validator } from '@cfworker/json-schema';
import type { RE2JS } from 're2js';
import type { JsonMap, JsonValue } from '../../../orchestrator/core/index.ts';
import { describeErrors, withPatterns } from '../../../orchestrator/steps/form.ts';
import { compilePattern } from '../../../orchestrator/steps/pattern.ts';
import type { ErrorDetail } from '../../../platform/errors.ts';
import { isObject } from '../../../platform/json.ts';

/**
 * Checks arguments against the input schema that a server gave for its tool. The schema is untrusted and may use
 * anything, so the check covers what can be checked in bounded time. Anything left out makes the check more lenient,
 * never stricter, and the server decides in the end. Patterns run on re2js, `$ref` stays within the schema, and every
 * visit of a schema node is paid from a budget, which ends recursion and combinations that grow exponentially. Formats
 * are annotations.
 */
const MAX_SCHEMA_LENGTH = 256 * 1024;
const DEEPEST = 60;
const MAX_VISITS = 20_000;
/** Visits × the widest value, because the cost of a visit grows with it. About 0.15 s at worst. */
const MAX_WORK = 20_000_000;

const numbers = new Set(['multipleOf', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum']);
const counts = new Set([
  'maxLength',
  'minLength',
  'maxItems',
  'minItems',
  'maxProperties',
  'minProperties',
  'minContains',
]);
const schemas = new Set(['items', 'contains', 'additionalProperties', 'propertyNames', 'not', 'if', 'then', 'else']);
const schemaLists = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items']);
const schemaMaps = new Set(['properties', 'dependentSchemas', '$defs', 'definitions']);
/** Keywords under which leaving out a part would make the whole stricter. */
const inverting = new Set(['not', 'if', 'then', 'else', 'maxContains']);
const leftOut = new Set([
  'patternProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'additionalItems',
  'dependencies',
  'uniqueItems',
  '$dynamicRef',
  '$recursiveRef',
]);

class OverBudget extends Error {}

type Prepared = { validator: Validator; patterns: ReadonlyMap<string, RE2JS>; budget: { left: number } };

class Rewriting {
  readonly patterns = new Map<string, RE2JS>();
  readonly budget = { left: Number.POSITIVE_INFINITY };
  readonly nodes = new Set<JsonValue>();
  readonly references: JsonMap[] = [];
  readonly lenient: boolean;
  losses = 0;
  constructor(lenient: boolean) {
    this.lenient = lenient;
  }

  schema(value: JsonValue, depth: number): JsonValue {
    if (typeof value === 'boolean') return value;
    if (!isObject(value) || depth > DEEPEST) {
      this.losses++;
      return true;
    }
    const out: JsonMap = {};
    for (const [keyword, item] of Object.entries(value)) this.#keyword(out, keyword, item, depth);
    // Fields matched by a pattern that is left out would otherwise count as additional.
    if (value.patternProperties !== undefined) delete out.additionalProperties;
    this.nodes.add(out);
    if (typeof out.$ref === 'string') this.references.push(out);
    this.#payable(out);
    return out;
  }

  #keyword(out: JsonMap, keyword: string, value: JsonValue, depth: number): void {
    if (this.lenient && inverting.has(keyword)) return;
    if (leftOut.has(keyword)) this.losses++;
    else if (keyword === 'pattern' && typeof value === 'string') this.#pattern(out, value);
    else if (schemaLists.has(keyword) && Array.isArray(value)) {
      const as = this.lenient && keyword === 'oneOf' && out.anyOf === undefined ? 'anyOf' : keyword;
      const list = value.map(item => this.schema(item, depth + 1));
      if (as === 'allOf' && Array.isArray(out.allOf)) out.allOf.push(...list);
      else if (!(this.lenient && as === 'oneOf')) out[as] = list;
    } else if (schemas.has(keyword)) out[keyword] = this.schema(value, depth + 1);
    else if (schemaMaps.has(keyword) && isObject(value)) {
      out[keyword] = Object.fromEntries(
        Object.entries(value).map(([name, item]) => [name, this.schema(item, depth + 1)]),
      );
    } else if (keyword === 'type' && !isType(value)) this.losses++;
    else if (isPlainKeyword(keyword, value)) out[keyword] = value;
  }

  #pattern(out: JsonMap, source: string): void {
    const compiled = compilePattern(source);
    if (!compiled) {
      this.losses++;
      return;
    }
    this.patterns.set(`pattern ${source}`, compiled);
    const all = Array.isArray(out.allOf) ? out.allOf : [];
    out.allOf = [...all, { format: `pattern ${source}` }];
  }

  /** The validator reads `type` of a node whenever it visits it: the only place where it can be stopped. */
  #payable(node: JsonMap): void {
    const { type } = node;
    const cost = 1 + (JSON.stringify([node.enum, node.const, node.required]).length >> 6);
    const { budget } = this;
    Object.defineProperty(node, 'type', {
      enumerable: true,
      get() {
        budget.left -= cost;
        if (budget.left < 0) throw new OverBudget();
        return type;
      },
    });
  }

  /** Removes references to another document, or to a part that was left out. */
  settleReferences(root: JsonValue): void {
    for (const node of this.references) {
      if (this.nodes.has(follow(root, String(node.$ref)) ?? null)) continue;
      delete node.$ref;
      this.losses++;
    }
  }
}

const TYPES = new Set<JsonValue>(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']);
/** A type that JSON Schema does not know, such as `String` or `any`, would fit no value at all. */
const isType = (value: JsonValue): boolean =>
  Array.isArray(value) ? value.every(name => TYPES.has(name)) : TYPES.has(value);

function isPlainKeyword(keyword: string, value: JsonValue): boolean {
  if (numbers.has(keyword)) return typeof value === 'number';
  if (counts.has(keyword) || keyword === 'maxContains') return Number.isInteger(value) && Number(value) >= 0;
  switch (keyword) {
    case 'const':
      return true;
    case 'enum':
      return Array.isArray(value);
    case 'type':
      return true;
    case 'required':
      return Array.isArray(value) && value.every(name => typeof name === 'string');
    case '$ref':
      return typeof value === 'string';
    default:
      return false;
  }
}

/** Resolves `#/a/b` in a document; undefined if it leads nowhere, or leaves the document. */
export function follow(root: JsonValue, reference: string): JsonValue | undefined {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let value: JsonValue | undefined = root;
  for (const part of reference.slice(2).split('/')) {
    const name = unescapePointer(part);
    if (name === undefined || typeof value !== 'object' || value === null || !Object.hasOwn(value, name))
      return undefined;
    value = Reflect.get(value, name) as JsonValue;
  }
  return value;
}

function unescapePointer(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined;
  }
}

function prepare(schema: JsonMap): Prepared | null {
  if (JSON.stringify(schema).length > MAX_SCHEMA_LENGTH) return null;
  let rewriting = new Rewriting(false);
  let root = rewriting.schema(schema, 0);
  rewriting.settleReferences(root);
  if (rewriting.losses > 0) {
    rewriting = new Rewriting(true);
    root = rewriting.schema(schema, 0);
    rewriting.settleReferences(root);
  }
  const { patterns, budget } = rewriting;
  const { $schema } = schema;
  const draft = typeof $schema === 'string' && $schema.includes('draft-0') ? '7' : '2020-12';
  return { validator: new Validator(root as Schema, draft, false), patterns, budget };
}

const known = new WeakMap<JsonMap, Prepared | null>();

/** Returns the width of the widest value: its number of items or fields, or its length in units of 64 characters. */
function width(value: JsonValue): number {
  if (typeof value === 'string') return 1 + (value.length >> 6);
  if (typeof value !== 'object' || value === null) return 1;
  const items = Array.isArray(value) ? value : Object.values(value);
  let widest = items.length;
  for (const item of items) widest = Math.max(widest, width(item));
  return Math.max(widest, 1);
}

/**
 * Returns the problems of arguments, with paths from `tool_args` on; empty if they are valid, or if the check is not
 * possible: the schema is too large, or checking these arguments would take too long.
 */
export function argumentProblems(schema: JsonMap, args: JsonMap): ErrorDetail[] {
  const ready = preparedOnce(schema);
  if (ready === null) return [];
  const { validator, patterns, budget } = ready;
  budget.left = Math.min(MAX_VISITS, MAX_WORK / width(args));
  try {
    const outcome = withPatterns(patterns, () => validator.validate(args));
    return outcome.valid ? [] : describeErrors(outcome.errors, 'tool_args');
  } catch {
    // Over budget, or beyond the stack because a schema refers to itself: the server will decide.
    return [];
  }
}

/** Null for a schema that the library cannot use: it throws plain errors, and schemas come from strangers. */
function preparedOnce(schema: JsonMap): Prepared | null {
  let ready = known.get(schema);
  if (ready !== undefined) return ready;
  try {
    ready = prepare(schema);
  } catch {
    ready = null;
  }
  known.set(schema, ready);
  return ready;
}
