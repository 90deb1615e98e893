import { z } from 'zod';

/** Pieces of every surface's schemas (decisions.md, Conventions of the HTTP API). */
export const Id = z.uuid().toLowerCase().meta({ description: 'UUID, lower case' });
export const Timestamp = z.iso.datetime({ precision: 3 }).meta({ description: 'ISO 8601 UTC with milliseconds' });
export const AnyObject = z.record(z.string(), z.json());

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
