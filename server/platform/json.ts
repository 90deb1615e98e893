/**
 * Any JSON value; an integer beyond the safe range of a double is a bigint (json-text.ts). The core, which imports
 * nothing, has its own equivalent types (`JsonValue`, `JsonMap`).
 */
export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json };
/** A JSON object. */
export type JsonObject = { [key: string]: Json };

/** Returns whether JSON can represent the value. Not recursive: a value may be nested deeper than the stack. */
export function isJson(root: unknown): boolean {
  const pending: unknown[] = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    switch (typeof value) {
      case 'string':
      case 'boolean':
      case 'bigint':
        continue;
      case 'number':
        if (!Number.isFinite(value)) return false;
        continue;
      case 'object':
        if (value === null) continue;
        if (Array.isArray(value)) for (const item of value) pending.push(item);
        else if (hasPlainPrototype(value))
          for (const key of Object.keys(value)) pending.push((value as Record<string, unknown>)[key]);
        else return false;
        continue;
      default:
        return false;
    }
  }
  return true;
}

/** Returns whether an object is not an instance of a class. */
export function hasPlainPrototype(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Returns whether a JSON value is an object, which is neither null nor an array. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns whether a value is a list of texts, which may be empty. */
export const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every(item => typeof item === 'string');

/** Returns whether a value is an object as JSON.parse creates it: not an array, and without a class. */
export function isPlainObject(value: unknown): value is object {
  return isObject(value) && hasPlainPrototype(value);
}
