import { z } from 'zod';
import { invalid } from '../platform/errors.ts';
import { Id } from './wire.ts';

/**
 * A creation time in a keyset, in ms since the epoch, at most the year 9999: PostgreSQL cannot read the form in which Prisma
 * writes later dates.
 */
export const CursorTime = z
  .number()
  .int()
  .min(0)
  .max(Date.UTC(9999, 11, 31));
/** The usual keyset: creation time, then id. */
export const TimeIdKey = z.tuple([CursorTime, Id]);
export type TimeIdKey = z.output<typeof TimeIdKey>;

/** Returns an opaque cursor: the keyset of the last row that was sent, as base64url of JSON. */
export function encodeCursor(parts: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(parts), 'utf8').toString('base64url');
}

/**
 * Returns the keyset in a cursor, checked against `schema`; null without a cursor. A cursor of another list, or an
 * invalid one, is AppError 422 (docs/specification/http.md#lists).
 */
export function decodeCursor<S extends z.ZodType>(schema: S, cursor: string | undefined): z.output<S> | null {
  if (cursor === undefined) return null;
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    parts = undefined;
  }
  const parsed = schema.safeParse(parts);
  if (parsed.success) return parsed.data;
  throw invalid('The cursor is malformed.', [{ path: 'cursor', message: 'is not a cursor of this list' }]);
}

/**
 * Takes a page from `limit + 1` rows: the extra row only shows that there are more. `keyOf` returns the keyset of a row, in the
 * sort order of the list.
 */
export function cutPage<Row>(
  rows: readonly Row[],
  limit: number,
  keyOf: (row: Row) => readonly (string | number)[],
): { rows: Row[]; next_cursor: string | null } {
  const kept = rows.slice(0, limit);
  const last = kept.at(-1);
  return { rows: kept, next_cursor: rows.length > limit && last !== undefined ? encodeCursor(keyOf(last)) : null };
}
