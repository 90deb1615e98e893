import { z } from 'zod';

/** Pieces of every surface's schemas (decisions.md, Conventions of the HTTP API). */
export const Id = z.uuid().toLowerCase().meta({ description: 'UUID, lower case' });
export const Timestamp = z.iso.datetime({ precision: 3 }).meta({ description: 'ISO 8601 UTC with milliseconds' });
/**
 * Any JSON value, as it is. Not z.json(): that tries a union of schemas on every value inside and copies it, 20 ms for 50 KB of
 * objects (this: 1), and the event loop stands still meanwhile.
 */
export const Json = z.custom<z.core.util.JSONType>(isJson, 'must be a JSON value');
export const AnyObject = z.record(z.string(), Json);

/** Query parameters of a list: `limit` 1..200 (default 50) and an opaque keyset `cursor`. */
export const page = {
  limit: z.coerce.number<number>().int().min(1).max(200).default(50),
  cursor: z.string().min(1).max(500).optional(),
};
export const nextCursor = { next_cursor: z.string().nullable() };

/** Text that PostgreSQL can store: no NUL, no half of a surrogate pair. */
export const PlainText = (max: number) =>
  z
    .string()
    .max(max)
    .refine(text => text.isWellFormed() && !text.includes('\0'), 'must be well-formed text without NUL');

/** Whether JSON can say it. Not recursive: a value may be nested deeper than the stack. */
function isJson(root: unknown): boolean {
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
        else if (isPlain(value)) for (const item of Object.values(value)) pending.push(item);
        else return false;
        continue;
      default:
        return false;
    }
  }
  return true;
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
