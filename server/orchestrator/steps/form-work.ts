import { isObject } from '../../platform/json.ts';
import type { JsonMap, JsonValue } from '../core/index.ts';
import { patternSize } from './pattern.ts';

/**
 * Computes the work of validating a value against a form before it is done: it walks the schema and the value together,
 * as the validator does. A keyword costs 1 unit, and a comparison costs in proportion to the length of its values, so
 * that a unit is about 100 ns. The walk stops at the limit.
 */
class Work {
  left: number;

  constructor(limit: number) {
    this.left = limit;
  }

  spend(units: number): void {
    this.left -= units;
    if (this.left < 0) throw new TooMuchWork();
  }

  visit(schema: JsonValue, value: JsonValue): void {
    if (!isObject(schema)) {
      this.spend(1);
      return;
    }
    const keywords = Object.keys(schema);
    this.spend(1 + keywords.length);
    for (const keyword of keywords) this.#keyword(schema, keyword, schema[keyword] ?? null, value);
  }

  #keyword(schema: JsonMap, keyword: string, of: JsonValue, value: JsonValue): void {
    switch (keyword) {
      case 'enum':
      case 'const':
      case 'required':
      case 'dependentRequired':
        this.#values(of, value);
        return;
      case 'uniqueItems':
        if (of === true) this.#pairs(value);
        return;
      case 'allOf':
      case 'anyOf':
      case 'oneOf':
        if (Array.isArray(of)) for (const inner of of) this.visit(inner, value);
        return;
      case 'not':
      case 'if':
      case 'then':
      case 'else':
        this.visit(of, value);
        return;
      case 'dependentSchemas':
        if (isObject(of)) for (const inner of Object.values(of)) this.visit(inner, value);
        return;
      default:
        if (typeof value === 'string') this.#text(keyword, of, value);
        else if (Array.isArray(value)) this.#items(schema, keyword, of, value);
        else if (isObject(value)) this.#members(keyword, of, value);
    }
  }

  /** Values that are compared with this one. Comparing a scalar is cheap, but a list of them still is as long as it is. */
  #values(of: JsonValue, value: JsonValue): void {
    const isDeep = typeof value === 'object' && value !== null;
    this.spend(Array.isArray(of) && !isDeep ? Math.ceil(of.length / 8) : countNodes(of));
  }

  #pairs(value: JsonValue): void {
    if (!Array.isArray(value)) return;
    this.spend(Math.ceil(value.length ** 2 / 8));
    this.spend(countNodes(value) * Math.ceil(value.length / 8));
  }

  #text(keyword: string, of: JsonValue, value: string): void {
    const isText = typeof of === 'string';
    if (keyword === 'pattern' && isText) this.spend(value.length * patternSize(of) + patternSize(of));
    else if (keyword === 'format' || keyword === 'minLength' || keyword === 'maxLength') {
      this.spend(Math.ceil(value.length / 8));
    }
  }

  #items(schema: JsonMap, keyword: string, of: JsonValue, value: JsonValue[]): void {
    const first = Array.isArray(schema.prefixItems) ? schema.prefixItems.length : 0;
    if (keyword === 'prefixItems' && Array.isArray(of)) {
      for (const [index, inner] of of.slice(0, value.length).entries()) this.visit(inner, value[index] ?? null);
    } else if (keyword === 'items') for (const item of value.slice(first)) this.visit(of, item);
    else if (keyword === 'contains') for (const item of value) this.visit(of, item);
  }

  #members(keyword: string, of: JsonValue, value: JsonMap): void {
    if (keyword === 'properties' && isObject(of)) {
      for (const [name, inner] of Object.entries(of)) {
        this.spend(1);
        if (Object.hasOwn(value, name)) this.visit(inner, value[name] ?? null);
      }
    } else if (keyword === 'additionalProperties') {
      for (const item of Object.values(value)) this.visit(of, item);
    } else if (keyword === 'propertyNames') for (const name of Object.keys(value)) this.visit(of, name);
  }
}

class TooMuchWork extends Error {}

/** The values in a value, long texts counted as several. */
function countNodes(value: JsonValue): number {
  if (typeof value === 'string') return 1 + Math.floor(value.length / 64);
  if (value === null || typeof value !== 'object') return 1;
  let count = 1;
  for (const item of Array.isArray(value) ? value : Object.values(value)) count += countNodes(item);
  return count;
}

/** The units that validating takes; undefined where they are more than `limit`. */
export function formWork(form: JsonMap, result: JsonMap, limit: number): number | undefined {
  const work = new Work(limit);
  try {
    work.visit(form, result);
    return limit - work.left;
  } catch (error) {
    if (error instanceof TooMuchWork) return undefined;
    throw error;
  }
}
