import { z } from 'zod';
import { Id, Instant, nextCursor, PlainText, page, Timestamp } from '../../operation/wire.ts';

const filters = {
  from: Instant.optional().meta({ description: 'From this instant on' }),
  to: Instant.optional().meta({ description: 'Before this instant' }),
  user_id: Id.optional().meta({ description: 'Operations of this person, in the console or with their tokens' }),
  operation: PlainText(100).optional().meta({ description: 'The name of one operation, as in the OpenAPI document' }),
  target: PlainText(100).optional().meta({ description: 'An id that the operation was about' }),
  outcome: z.enum(['ok', 'refused']).optional(),
};
export const ListAuditInput = z.strictObject({
  ...page,
  ...filters,
  saves: z.enum(['sessions', 'each']).default('sessions').meta({
    description: 'Whether the saves of an editing session of a draft are one entry, or one each',
  }),
});
export const ExportAuditInput = z.strictObject(filters);

/** One operation that may have changed something. */
export const AuditEntry = z.strictObject({
  id: Id,
  at: Timestamp,
  /** `name` and `email` are null if the account no longer exists. */
  user: z.strictObject({ id: Id, name: z.string().nullable(), email: z.string().nullable() }),
  /** The token that was used; null: the console. `name` is null if the token no longer exists. */
  token: z.strictObject({ id: Id, name: z.string().nullable() }).nullable(),
  surface: z.enum(['rest', 'trpc', 'mcp']),
  operation: z.string(),
  /** The command of an operation that has several: `start`, `stop`, … */
  action: z.string().nullable(),
  /** Ids by their names: the parameters of the path, and the id of what was created. */
  target: z.record(z.string(), z.string()),
  /**
   * The present names of what `target` is about, by the same keys. Things that no longer exist or that the reader may
   * not read have none.
   */
  names: z.record(z.string(), z.string()),
  /** The editing session whose last save this entry is; null for any other entry. */
  session: z
    .strictObject({
      saves: z.number().int(),
      first_at: Timestamp,
      /** The revisions of the draft before the first save and after the last one; null for saves that recorded none. */
      from_revision: z.number().int().nullable(),
      to_revision: z.number().int().nullable(),
    })
    .nullable(),
  /** `ok`, or the code of the error. */
  outcome: z.string(),
  project_id: Id.nullable(),
  request_id: z.string(),
  client_address: z.string().nullable(),
});
export const ListAuditOutput = z.strictObject({ entries: z.array(AuditEntry), ...nextCursor });
