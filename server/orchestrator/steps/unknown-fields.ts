import type { ErrorDetail } from '../../platform/errors.ts';
import { isObject, type Json, type JsonObject } from '../../platform/json.ts';
import { References } from '../../platform/json-schema/references.ts';
import type { JsonMap } from '../core/index.ts';

/** The maximum number of schemas to visit: ~100 ms at worst. A larger form cannot be checked and is refused. */
const MAX_WORK = 300_000;
const MAX_PROBLEMS = 20;
const MAX_PATH_LENGTH = 500;
/** Keywords whose schemas apply to the same value. */
const LISTS = ['allOf', 'anyOf', 'oneOf'] as const;
const SINGLE = ['if', 'then', 'else'] as const;
const MAPS = ['dependentSchemas', 'dependencies'] as const;

/**
 * Returns the fields of an answer that its form does not have, at any depth, as the `details` of a 422. Without this
 * check, a misspelt field would be ignored silently. JSON Schema admits every field that it does not name. Here an
 * object admits other fields only if its schema names none or has `additionalProperties`. `beside`: top-level fields of
 * the answer that are known without the form.
 */
export function unknownFields(form: JsonMap, answer: JsonMap, beside: readonly string[] = []): ErrorDetail[] {
  return new UnknownFields(form).of(answer, beside);
}

class TooMuchWork extends Error {}

class UnknownFields {
  readonly #root: JsonObject;
  readonly #references: References;
  readonly #problems: ErrorDetail[] = [];
  /** The schemas that apply in addition to a schema. All items of a list share them. */
  readonly #beside = new WeakMap<JsonObject, JsonObject[]>();
  #work = 0;

  constructor(form: JsonMap) {
    this.#root = form as JsonObject;
    this.#references = new References(this.#root);
  }

  of(answer: JsonMap, beside: readonly string[]): ErrorDetail[] {
    try {
      this.#visit(answer as Json, [this.#root], { path: 'result', beside });
    } catch (error) {
      if (!(error instanceof TooMuchWork)) throw error;
      return [{ path: 'result', message: 'is too large for this form', code: 'result_too_large' }];
    }
    return this.#problems;
  }

  #visit(value: Json, given: readonly Json[], at: { path: string; beside?: readonly string[] }): void {
    if (typeof value !== 'object' || value === null) return;
    const schemas = this.#applying(given);
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries())
        this.#visit(item, itemSchemas(schemas, index), { path: `${at.path}[${index}]` });
      return;
    }
    const isClosed = schemas.some(({ properties }) => isObject(properties)) && !schemas.some(takesOthers);
    for (const [name, inner] of Object.entries(value)) {
      const found = fieldSchemas(schemas, name);
      const path = `${at.path}.${name}`;
      if (found.length > 0) this.#visit(inner, found, { path });
      else if (isClosed && at.beside?.includes(name) !== true) this.#report(path);
    }
  }

  #report(path: string): void {
    if (this.#problems.length >= MAX_PROBLEMS) return;
    const message = 'is not a field of this task';
    this.#problems.push({ path: path.slice(0, MAX_PATH_LENGTH), message, code: 'unknown_field' });
  }

  /** Returns the schemas that apply to a value, including those that they refer to or combine. */
  #applying(given: readonly Json[]): JsonObject[] {
    const [only] = given;
    const known = given.length === 1 && isObject(only) ? this.#beside.get(only) : undefined;
    const found = known ?? this.#combined(given);
    if (known === undefined && given.length === 1 && isObject(only)) this.#beside.set(only, found);
    // Each schema is queried for each field.
    this.#spend(found.length);
    return found;
  }

  #spend(work: number): void {
    this.#work += work;
    if (this.#work > MAX_WORK) throw new TooMuchWork();
  }

  #combined(given: readonly Json[]): JsonObject[] {
    const found = new Set<JsonObject>();
    const pending = [...given];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      this.#spend(1);
      if (!isObject(next) || found.has(next)) continue;
      found.add(next);
      if (next.$ref !== undefined) {
        const target = this.#references.resolve(next);
        if (target.kind === 'schema') pending.push(target.schema);
      }
      pending.push(...combined(next));
    }
    return [...found];
  }
}

function combined(schema: JsonObject): Json[] {
  return [
    ...LISTS.flatMap(keyword => (Array.isArray(schema[keyword]) ? (schema[keyword] as Json[]) : [])),
    ...SINGLE.flatMap(keyword => (schema[keyword] === undefined ? [] : [schema[keyword] as Json])),
    ...MAPS.flatMap(keyword => (isObject(schema[keyword]) ? Object.values(schema[keyword] as JsonObject) : [])),
  ];
}

const takesOthers = ({ additionalProperties, patternProperties, unevaluatedProperties }: JsonObject): boolean =>
  (additionalProperties !== undefined && additionalProperties !== false) ||
  (unevaluatedProperties !== undefined && unevaluatedProperties !== false) ||
  patternProperties !== undefined;

function fieldSchemas(schemas: readonly JsonObject[], name: string): Json[] {
  return schemas.flatMap(({ properties, additionalProperties }) => {
    // Own properties only: a field may be called `constructor`.
    if (isObject(properties) && Object.hasOwn(properties, name)) return [properties[name] ?? {}];
    return isObject(additionalProperties) ? [additionalProperties] : [];
  });
}

function itemSchemas(schemas: readonly JsonObject[], index: number): Json[] {
  return schemas.flatMap(({ items, prefixItems, additionalItems, contains }) => {
    const placed = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
    const rest = Array.isArray(items) ? additionalItems : items;
    return [placed[index] ?? rest, contains].flatMap(schema => (schema === undefined ? [] : [schema]));
  });
}
