import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { cutPage, decodeCursor, TimeIdKey } from '../../../operation/cursor.ts';
import { isoTimestamp } from '../../../platform/clock.ts';
import { listPatRows, type PatFilter } from './queries.ts';
import type { ListPatsInput, ListPatsOutput } from './schemas.ts';

const timestamp = (ms: number | null) => (ms === null ? null : isoTimestamp(ms));

/**
 * Returns the filter for the tokens that a caller may see and revoke: an administrator all tokens of the project, other
 * users only their own.
 */
export function manageable({ tenantId, projectId, userId, role }: Context['principal']): PatFilter {
  return { tenantId, projectId, userId: role === 'tenant_admin' ? undefined : userId };
}

/** GET /v1/pats: returns the tokens that are not revoked, newest first, without the secret token itself. */
export async function listPats(
  { principal, services }: Context,
  input: z.output<typeof ListPatsInput>,
): Promise<z.input<typeof ListPatsOutput>> {
  const after = decodeCursor(TimeIdKey, input.cursor);
  const rows = await listPatRows(services.pool, manageable(principal), after, input.limit + 1);
  const page = cutPage(rows, input.limit, row => [row.createdAt, row.id]);
  const pats = page.rows.map(row => ({
    id: row.id,
    display_name: row.displayName,
    scopes: row.scopes,
    created_at: isoTimestamp(row.createdAt),
    expires_at: timestamp(row.expiresAt),
    last_used_at: timestamp(row.lastUsedAt),
    user_id: row.userId,
    user_email: row.userEmail,
    created_by_pat_id: row.createdByPatId,
  }));
  return { pats, next_cursor: page.next_cursor };
}
