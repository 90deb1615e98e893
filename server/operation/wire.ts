import { z } from 'zod';
import { isoTimestamp, LATEST_MS } from '../platform/clock.ts';
import { isJson, isPlainObject } from '../platform/json.ts';
import { JsonObjectSchema } from '../platform/zod-json.ts';
import { BoundedIssues } from './bounded-issues.ts';
import { DEFAULT_KIND, WORKFLOW_KINDS } from './workflow-kinds.ts';

/** Parts that the schemas of every surface use (docs/specification/http.md). */
export const Id = z
  .uuid()
  .toLowerCase()
  .meta({ description: 'UUID, lower case in answers', examples: ['0198c0de-7a2b-7cc3-9d1e-3f2b8a6c4d10'] });
export const Timestamp = z.iso
  .datetime({ precision: 3 })
  .meta({ description: 'ISO 8601 UTC with milliseconds', examples: ['2026-01-01T00:00:00.000Z'] });

/** The grammar of RFC 3339, which allows a space instead of the `T`, and letters of either case. */
const rfc3339 =
  /^(\d{4}-\d{2}-\d{2})[Tt ]((?:[01]\d|2[0-3]):[0-5]\d):([0-5]\d|60)(?:\.(\d+))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;
/** Outside of these limits, a timestamp has no four-digit year. */
const EARLIEST_MS = Date.parse('0001-01-01T00:00:00.000Z');

/** Returns the milliseconds since the epoch of an RFC 3339 timestamp, truncated; NaN for any other text. */
function parseInstant(text: string): number {
  const [matched, date = '', minutes = '', seconds = '', fraction = '', sign = '+', hours = '0', rest = '0'] =
    rfc3339.exec(text) ?? [];
  if (matched === undefined) return Number.NaN;
  // Date turns 30 February into 1 or 2 March.
  if (!new Date(Date.parse(`${date}T00:00:00Z`)).toJSON()?.startsWith(date)) return Number.NaN;
  const offsetMs = (Number(hours) * 60 + Number(rest)) * 60_000 * (sign === '-' ? -1 : 1);
  const leaps = seconds === '60';
  const start = Date.parse(`${date}T${minutes}:${leaps ? '59' : seconds}.000Z`) - offsetMs;
  // A leap second is the last one of a month in UTC. It has no separate number, so it counts as the next second.
  if (leaps) return /01T00:00:00/.test(new Date(start + 1000).toISOString()) ? start + 1000 : Number.NaN;
  return start + Number(fraction.slice(0, 3).padEnd(3, '0'));
}

/**
 * A point in time in a request, in any form of RFC 3339 (any offset, any number of fraction digits). The use case gets
 * it in the form of `Timestamp`, so that two instants can be compared as text.
 */
export const Instant = z
  .string()
  .meta({
    format: 'date-time',
    description: 'RFC 3339, with any offset and any number of fraction digits; digits beyond milliseconds are dropped',
    examples: ['2026-01-01T00:00:00Z', '2026-01-01T01:00:00.123456+01:00'],
  })
  .transform((text, context) => {
    const at = parseInstant(text);
    if (at >= EARLIEST_MS && at <= LATEST_MS) return isoTimestamp(at);
    const hint = / \d\d:\d\d$/.test(text) ? '; in a query string a "+" is written %2B' : '';
    context.addIssue({ code: 'custom', message: `must be a timestamp as RFC 3339 writes it${hint}` });
    return z.NEVER;
  });

export const AnyObject = JsonObjectSchema;
/** An object of objects under any keys, unchanged. */
export const ObjectOfObjects = z
  .custom<Record<string, z.output<typeof AnyObject>>>(isPlainObject, 'must be a JSON object')
  .superRefine((record, context) => {
    const issues = new BoundedIssues(context);
    for (const key of Object.keys(record)) {
      const value: unknown = record[key];
      if (!isPlainObject(value) || !isJson(value))
        issues.add(1, () => [{ path: [key], message: 'must be a JSON object' }]);
    }
    issues.end();
  })
  .meta({ type: 'object', additionalProperties: { type: 'object' } });

/** Query parameters of a list: `limit` 1..200 (default 50) and an opaque keyset `cursor`. */
export const page = {
  limit: z.coerce.number<number>().int().min(1).max(200).default(50),
  cursor: z.string().min(1).max(500).optional(),
};
export const nextCursor = { next_cursor: z.string().nullable() };

/** The kind of the workflows in a list; the default is the kind that people edit. */
export const kindFilter = z.enum(WORKFLOW_KINDS).default(DEFAULT_KIND).meta({
  description: 'Workflows of this kind; those of other kinds belong to parts of the service, such as agents',
});

/** The maximum of PostgreSQL's integer, in which versions and the events of a run are counted. */
export const MAX_INTEGER = 2_147_483_647;

/**
 * Checks a value with `schema` and returns it unchanged, because z.looseObject() silently drops a key `__proto__`. Not for a
 * schema that changes its values.
 */
export function asSent<S extends z.ZodType>(schema: S) {
  return z
    .custom<z.output<S>>()
    .superRefine((value, context) => {
      for (const { path, message } of schema.safeParse(value).error?.issues ?? []) {
        context.addIssue({ code: 'custom', path: [...path], message });
      }
    })
    .meta(describedAs(schema));
}

/** Checks each item of a list like `asSent`. The list checks its items itself, because 350,000 invalid ones took two seconds. */
export function listAsSent<S extends z.ZodType>(schema: S) {
  return z.array(z.custom<z.output<S>>().meta(describedAs(schema))).superRefine((items, context) => {
    const issues = new BoundedIssues(context);
    for (const [index, value] of items.entries()) {
      // Unlike safeParse, it makes no error of the issues.
      const checked = schema._zod.run({ value, issues: [] }, { async: false });
      // Not zod's own error: naming `z.core` at run time puts all of zod, 48 KiB, into every page that uses this file.
      if (checked instanceof Promise) throw new Error('A schema in a list must not be asynchronous.');
      if (checked.issues.length === 0) continue;
      issues.add(checked.issues.length, () =>
        (schema.safeParse(value).error?.issues ?? []).map(({ path, message }) => ({ path: [index, ...path], message })),
      );
    }
    issues.end();
  });
}

function describedAs(schema: z.ZodType) {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return described;
}

/** Returns a schema for text that PostgreSQL can store: without NUL and half surrogate pairs. */
export const PlainText = (max: number) =>
  z
    .string()
    .max(max)
    .refine(text => text.isWellFormed() && !text.includes('\0'), 'must be well-formed text without NUL');

/** Returns a schema for a name: trimmed, and not blank. */
export const NameText = (max: number) => PlainText(max).trim().regex(/\S/, 'must not be blank');
