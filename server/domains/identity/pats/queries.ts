import type { Pool } from 'pg';
import type { TimeIdKey } from '../../../operation/cursor.ts';
import { type Scope, scopes } from '../../../orchestrator/ports/authority.ts';
import { camelCased, type Stored } from '../../../platform/postgres/rows.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';

/** Selects the tokens of a project that are not revoked; with `userId`, only those of this user. */
export type PatFilter = { tenantId: string; projectId: string; userId: string | undefined };

export type PatRow = {
  id: string;
  userId: string;
  userEmail: string;
  displayName: string;
  scopes: Scope[];
  createdAt: number;
  expiresAt: number | null;
  lastUsedAt: number | null;
  createdByPatId: string | null;
};

type Row = Stored<PatRow, { scopes: string[]; createdAt: Date; expiresAt: Date | null; lastUsedAt: Date | null }>;

const columns = `t.id, t.user_id, u.email AS user_email, t.display_name, t.scopes, t.created_at, t.expires_at, t.last_used_at,
  t.created_by_pat_id`;
const live = `FROM pats t JOIN users u ON u.id = t.user_id
  WHERE t.tenant_id = $1 AND t.project_id = $2 AND t.revoked_at IS NULL AND ($3::uuid IS NULL OR t.user_id = $3)`;

const toRow = (row: Row): PatRow => ({
  ...row,
  scopes: scopes.filter(scope => row.scopes.includes(scope)),
  createdAt: row.createdAt.getTime(),
  expiresAt: row.expiresAt?.getTime() ?? null,
  lastUsedAt: row.lastUsedAt?.getTime() ?? null,
});

/** Returns tokens, newest first, at most `take`, after the keyset if one is given. */
export async function listPatRows(
  pool: Pool,
  filter: PatFilter,
  after: TimeIdKey | null,
  take: number,
): Promise<PatRow[]> {
  const { rows } = await pool.query(
    `SELECT ${columns} ${live}
       AND ($4::timestamptz IS NULL OR (t.created_at, t.id) < ($4::timestamptz, $5::uuid))
     ORDER BY t.created_at DESC, t.id DESC LIMIT $6`,
    [filter.tenantId, filter.projectId, filter.userId ?? null, after && new Date(after[0]), after?.[1], take],
  );
  return camelCased<Row>(rows).map(toRow);
}

/** Returns one token that is not revoked, or null. */
export async function findPatRow(pool: Pool, filter: PatFilter, id: string): Promise<PatRow | null> {
  const { rows } = await pool.query(`SELECT ${columns} ${live} AND t.id = $4`, [
    filter.tenantId,
    filter.projectId,
    filter.userId ?? null,
    id,
  ]);
  const [row] = camelCased<Row>(rows);
  return row ? toRow(row) : null;
}

export type RevokedPat = { id: string; displayName: string };

/**
 * Revokes a token and all that were created with it, directly or indirectly; the token itself comes first, the others
 * by age. Empty if it is unknown or was already revoked. Call this under lockTenant, which the creation of a token by
 * another token also holds: otherwise this would miss a token that is being created.
 */
export async function revokePatRows(tx: Queryable, filter: PatFilter, id: string, at: number): Promise<RevokedPat[]> {
  const { rows } = await tx.query(
    `WITH RECURSIVE family AS (
       SELECT id FROM pats
        WHERE id = $1 AND tenant_id = $2 AND project_id = $3 AND revoked_at IS NULL
          AND ($4::uuid IS NULL OR user_id = $4)
       UNION
       SELECT p.id FROM pats p JOIN family f ON p.created_by_pat_id = f.id
     ), revoked AS (
       UPDATE pats SET revoked_at = $5 WHERE id IN (SELECT id FROM family) AND revoked_at IS NULL
       RETURNING id, display_name, created_at
     )
     SELECT id, display_name FROM revoked ORDER BY id <> $1, created_at, id`,
    [id, filter.tenantId, filter.projectId, filter.userId ?? null, new Date(at)],
  );
  return camelCased<RevokedPat>(rows);
}
