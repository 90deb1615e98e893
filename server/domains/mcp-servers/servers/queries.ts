import type { Pool } from 'pg';
import type { z } from 'zod';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import { type AuthMode, limits } from '../schemas.ts';
import type { ServerKey } from './store.ts';

/** Inserts a draft. Returns 'taken' if another server has got the service meanwhile, 'full' if the tenant is at its limit. */
export async function insertServer(
  pool: Pool,
  row: {
    id: string;
    tenantId: string;
    name: string;
    service: string;
    canonicalUrl: string;
    mode: string;
    authMode: string;
    createdBy: string;
    at: Date;
  },
): Promise<'inserted' | 'taken' | 'full'> {
  const { rows } = await pool.query<{ count: number; inserted: boolean }>(
    `WITH present AS (SELECT count(*)::int AS count FROM mcp_servers WHERE tenant_id = $2),
     new AS (
       INSERT INTO mcp_servers (id, tenant_id, name, service, canonical_url, mode, auth_mode, status, tool_count,
         created_by, created_at, updated_at)
       SELECT $1, $2, $3, $4, $5, $6, $7, 'draft', 0, $8, $9, $9 FROM present WHERE count < $10
       ON CONFLICT (tenant_id, service) DO NOTHING
       RETURNING id)
     SELECT present.count, EXISTS (SELECT FROM new) AS inserted FROM present`,
    [
      row.id,
      row.tenantId,
      row.name,
      row.service,
      row.canonicalUrl,
      row.mode,
      row.authMode,
      row.createdBy,
      row.at,
      limits.serversPerTenant,
    ],
  );
  const [answer] = rows;
  if (answer?.inserted === true) return 'inserted';
  return (answer?.count ?? 0) >= limits.serversPerTenant ? 'full' : 'taken';
}

/**
 * Returns the server's address and `auth_mode`, and locks its row until the transaction ends; null if it does not
 * exist. An instance that is created meanwhile waits, because its foreign key refers to this row.
 */
export async function lockServer(
  tx: Queryable,
  { tenantId, id }: ServerKey,
): Promise<{ canonicalUrl: string; authMode: z.output<typeof AuthMode> } | null> {
  const { rows } = await tx.query<{ canonicalUrl: string; authMode: z.output<typeof AuthMode> }>(
    `SELECT canonical_url AS "canonicalUrl", auth_mode AS "authMode" FROM mcp_servers
      WHERE id = $1 AND tenant_id = $2 FOR UPDATE`,
    [id, tenantId],
  );
  return rows[0] ?? null;
}
