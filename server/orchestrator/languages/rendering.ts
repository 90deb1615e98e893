import type { JsonMap, JsonValue, StepError } from '../core/index.ts';
import {
  hasTemplate,
  MAX_REFERENCES,
  parseTemplate,
  type Reference,
  readsItem,
  tooManyReferences,
} from './templates.ts';

/** The limit for a rendered field without its own limit, in bytes of UTF-8. */
export const MAX_RENDERED_BYTES = 1024 * 1024;

/**
 * The values to which references resolve. `result` is called only for steps that a template names. It throws for a step
 * that is not an ancestor.
 */
export type TemplateScope = {
  input: JsonMap;
  result(step: string): JsonValue;
  /** Returns undefined for a step that did not fail. */
  errorOf?(step: string): StepError | undefined;
  /** Null or absent outside loops. */
  readonly item?: { item: JsonValue; index: number } | null | undefined;
};

/** The error for a reference that does not resolve. The message names the path. */
export class TemplateUnresolved extends Error {
  readonly reference: string;
  constructor(reference: string, why: string) {
    super(`{{${reference}}} does not resolve: ${why}`);
    this.name = 'TemplateUnresolved';
    this.reference = reference;
  }
}

/** The error for a key of an object that is not text once rendered, or that occurs twice. The message names the key. */
export class TemplateKeyInvalid extends Error {
  constructor(field: string, key: string, problem: string) {
    super(`${field}: the key ${JSON.stringify(key.slice(0, 200))} ${problem}`);
    this.name = 'TemplateKeyInvalid';
  }
}

/** The error for a field that exceeds its limit once rendered. The message names the field and the limit. */
export class RenderedTooLarge extends Error {
  constructor(field: string, maxBytes: number) {
    super(`the rendered \`${field}\` is larger than ${maxBytes / 1024 / 1024} MiB`);
    this.name = 'RenderedTooLarge';
  }
}

const MISSING = Symbol('missing');

function lookUp(value: JsonValue, key: string | number): JsonValue | typeof MISSING {
  if (Array.isArray(value)) return typeof key === 'number' && key < value.length ? (value[key] ?? null) : MISSING;
  if (value === null || typeof value !== 'object') return MISSING;
  // Own properties only: `constructor` and `__proto__` are not members of a JSON value.
  const name = String(key);
  return Object.hasOwn(value, name) ? (value[name] ?? null) : MISSING;
}

/**
 * Returns the result of a step. Validation refuses a step that is not an ancestor, but a log from before overrides were
 * checked can still name one.
 */
function stepResult(step: string, text: string, scope: TemplateScope): JsonValue {
  try {
    return scope.result(step);
  } catch {
    throw new TemplateUnresolved(text, `"${step}" does not come before this step`);
  }
}

function sourceOf(reference: Reference, scope: TemplateScope): JsonValue {
  const { step, error, text } = reference;
  if (readsItem(reference)) return itemOf(reference, scope);
  if (step === null) return scope.input;
  return error ? (scope.errorOf?.(step) ?? null) : stepResult(step, text, scope);
}

function itemOf({ source, text }: Reference, scope: TemplateScope): JsonValue {
  const { item } = scope;
  if (item == null) throw new TemplateUnresolved(text, 'this step is not in a loop');
  return source === 'item' ? item.item : item.index;
}

/**
 * Returns the first value at a path of the template that is not null; otherwise the fallback, or the value at the last
 * path. Throws TemplateUnresolved.
 */
export function resolve(reference: Reference, scope: TemplateScope): JsonValue {
  const { or, fallback } = reference;
  let value = readPath(reference, scope, or !== undefined || fallback !== undefined);
  for (let at = 0; or !== undefined && value === null && at < or.length; at++) {
    const next = or[at] as Reference; // in range by the loop
    value = readPath(next, scope, at + 1 < or.length || fallback !== undefined);
  }
  // `??` also replaces null, as in every language that has this operator.
  return value === null && fallback !== undefined ? fallback.value : value;
}

/**
 * Returns the value at one path. If the path does not resolve: null if an alternative follows, TemplateUnresolved
 * otherwise.
 */
function readPath(reference: Reference, scope: TemplateScope, isOptional: boolean): JsonValue {
  let value = sourceOf(reference, scope);
  for (let index = 0; index < reference.path.length; index++) {
    const key = reference.path[index] as string | number;
    const next = lookUp(value, key);
    if (next === MISSING) {
      if (isOptional) return null;
      throw new TemplateUnresolved(
        reference.text,
        `there is no ${typeof key === 'number' ? `[${key}]` : `"${key.slice(0, 80)}"`}`,
      );
    }
    value = next;
  }
  return value;
}

/** JSON texts by value, so that a value that is referred to a thousand times is serialized once. */
export class JsonTexts {
  readonly #texts = new Map<object, { text: string; bytes: number }>();

  of(value: JsonValue): { text: string; bytes: number } {
    if (typeof value !== 'object' || value === null) {
      const text = JSON.stringify(value);
      return { text, bytes: Buffer.byteLength(text) };
    }
    let known = this.#texts.get(value);
    if (known === undefined) {
      const text = JSON.stringify(value);
      known = { text, bytes: Buffer.byteLength(text) };
      this.#texts.set(value, known);
    }
    return known;
  }
}

function typeOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** The remaining budget of one field during rendering. */
class Budget {
  readonly #field: string;
  readonly #maxBytes: number;
  #bytes = 0;
  #references = 0;

  constructor(field: string, maxBytes: number) {
    this.#field = field;
    this.#maxBytes = maxBytes;
  }

  /** Called before anything is appended, so that text beyond the budget is never created. */
  take(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#maxBytes) throw new RenderedTooLarge(this.#field, this.#maxBytes);
  }

  refer(reference: Reference): void {
    this.#references += 1 + (reference.or?.length ?? 0);
    if (this.#references > MAX_REFERENCES) throw tooManyReferences(0);
  }

  /** Returns the error for a key. */
  wrongKey(key: string, problem: string): TemplateKeyInvalid {
    return new TemplateKeyInvalid(this.#field, key, problem);
  }
}

/**
 * Renders the fields of one attempt. Each field has a budget that counts the text outside templates and the values that
 * they insert, as text or as JSON. A value without templates costs nothing and is not copied. All methods throw
 * TemplateSyntaxError, TemplateUnresolved and RenderedTooLarge, and `value` also TemplateKeyInvalid.
 */
export class Rendering {
  readonly #scope: TemplateScope;
  readonly #json = new JsonTexts();

  constructor(scope: TemplateScope) {
    this.#scope = scope;
  }

  /**
   * Renders every string of a value at any depth, including keys. A string that is exactly one template keeps the
   * value's type.
   */
  value(field: string, value: JsonValue, maxBytes = MAX_RENDERED_BYTES): JsonValue {
    return this.#render(value, new Budget(field, maxBytes));
  }

  /** Renders a string to text. Values are inserted as JSON (null too: an empty text would hide a mistake). */
  text(field: string, text: string, maxBytes = MAX_RENDERED_BYTES): string {
    if (!hasTemplate(text)) return text;
    return this.#text(text, new Budget(field, maxBytes));
  }

  #render(value: JsonValue, budget: Budget): JsonValue {
    if (typeof value === 'string') return this.#string(value, budget);
    if (value === null || typeof value !== 'object') return value;
    if (Array.isArray(value)) return value.map(item => this.#render(item, budget));
    const entries = Object.entries(value);
    const hasKeys = entries.some(([key]) => hasTemplate(key));
    // fromEntries defines keys instead of assigning them: a key may be __proto__.
    return Object.fromEntries(
      (hasKeys ? this.#withKeys(entries, budget) : entries).map(([key, item]) => [key, this.#render(item, budget)]),
    );
  }

  /** Renders the keys. Each key must be text and unique. */
  #withKeys(entries: readonly [string, JsonValue][], budget: Budget): [string, JsonValue][] {
    const taken = new Set<string>();
    return entries.map(([key, item]) => {
      const rendered = hasTemplate(key) ? this.#string(key, budget) : key;
      if (typeof rendered !== 'string') throw budget.wrongKey(key, `is ${typeOf(rendered)}, and a key must be text`);
      if (taken.has(rendered))
        throw budget.wrongKey(key, `gives ${JSON.stringify(rendered.slice(0, 200))}, which the object has already`);
      taken.add(rendered);
      return [rendered, item];
    });
  }

  #string(text: string, budget: Budget): JsonValue {
    if (!hasTemplate(text)) return text;
    const { whole } = parseTemplate(text);
    if (whole === null) return this.#text(text, budget);
    budget.refer(whole);
    const value = resolve(whole, this.#scope);
    // A string is shared, not copied, but each serialization of the value writes the string again.
    budget.take(typeof value === 'string' ? Buffer.byteLength(value) : this.#json.of(value).bytes);
    return value;
  }

  #text(text: string, budget: Budget): string {
    let out = '';
    for (const part of parseTemplate(text).parts) {
      if (typeof part === 'string') {
        budget.take(Buffer.byteLength(part));
        out += part;
        continue;
      }
      budget.refer(part);
      const value = resolve(part, this.#scope);
      if (typeof value === 'string') {
        budget.take(Buffer.byteLength(value));
        out += value;
      } else {
        const json = this.#json.of(value);
        budget.take(json.bytes);
        out += json.text;
      }
    }
    return out;
  }
}
