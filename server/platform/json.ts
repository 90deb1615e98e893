import { z } from 'zod';

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
/** A JSON object. */
export type JsonObject = { [key: string]: Json };

/** Whether JSON can say it. Not recursive: a value may be nested deeper than the stack. */
export function isJson(root: unknown): boolean {
  const pending: unknown[] = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    switch (typeof value) {
      case 'string':
      case 'boolean':
        continue;
      case 'number':
        if (!Number.isFinite(value)) return false;
        continue;
      case 'object':
        if (value === null) continue;
        if (Array.isArray(value)) for (const item of value) pending.push(item);
        else if (hasPlainPrototype(value)) for (const item of Object.values(value)) pending.push(item);
        else return false;
        continue;
      default:
        return false;
    }
  }
  return true;
}

function hasPlainPrototype(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Whether a value is an object as JSON.parse makes them: no array, and of no class. */
export function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && hasPlainPrototype(value);
}

/** Any JSON object, as it is: z.record() and z.looseObject() leave a key `__proto__` out without a word. */
export const JsonObjectSchema = z
  .custom<Record<string, z.core.util.JSONType>>(value => isPlainObject(value) && isJson(value), 'must be a JSON object')
  .meta({ type: 'object' });
