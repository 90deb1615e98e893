import { z } from 'zod';
import { Id, Instant, NameText, nextCursor, page, Timestamp } from '../../../operation/wire.ts';
import { scopes } from '../../../orchestrator/ports/authority.ts';

export const Pat = z.strictObject({
  id: Id,
  display_name: z.string(),
  scopes: z.array(z.enum(scopes)),
  created_at: Timestamp,
  expires_at: Timestamp.nullable(),
  last_used_at: Timestamp.nullable(),
  /** The user the token acts as. */
  user_id: Id,
  user_email: z.string(),
  created_by_pat_id: Id.nullable().meta({ description: 'The token that created this one; null if a session did' }),
});
export const ListPatsInput = z.strictObject({ ...page });
export const ListPatsOutput = z.strictObject({ pats: z.array(Pat), ...nextCursor });
export const CreatePatInput = z.strictObject({
  display_name: NameText(120),
  scopes: z.array(z.enum(scopes)).min(1).max(scopes.length),
  expires_at: Instant.optional(),
});
export const CreatePatOutput = z.strictObject({
  id: Id,
  display_name: z.string(),
  token: z.string(),
  scopes: z.array(z.enum(scopes)),
  created_at: Timestamp,
  expires_at: Timestamp.nullable(),
});
export const ById = z.strictObject({ id: Id });
export const RevokePatOutput = z.strictObject({
  id: Id,
  also_revoked: z
    .array(z.strictObject({ id: Id, display_name: z.string() }))
    .meta({ description: 'The tokens that it had made, and those that they had made; oldest first' }),
});
export const RevealPatOutput = z.strictObject({ id: Id, token: z.string() });
