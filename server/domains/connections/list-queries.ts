import type { Pool } from 'pg';
import type { TimeIdKey } from '../../operation/cursor.ts';
import { escapeLike } from '../../platform/postgres/prisma.ts';
import type { ConnectionRef, CountedRow } from './store.ts';

export type ConnectionFilter = {
  provider?: string | undefined;
  service?: string | undefined;
  status?: string | undefined;
  q?: string | undefined;
};

/**
 * Returns the connections that the project sees, newest first, at most `take`, after the keyset if one is given. In SQL
 * because of `usedBy`: Prisma counts the profiles of every tenant before it joins the few that are requested.
 */
export async function listCounted(
  pool: Pool,
  { tenantId, projectId }: Pick<ConnectionRef, 'tenantId' | 'projectId'>,
  filter: ConnectionFilter,
  after: TimeIdKey | null,
  take: number,
): Promise<CountedRow[]> {
  const { rows } = await pool.query<CountedRow>(
    `SELECT id, tenant_id AS "tenantId", project_id AS "projectId", name, provider, service, status,
       credential_keys AS "credentialKeys", config, account, last_error AS "lastError", origins,
       secret_set_by AS "secretSetBy", token_origin AS "tokenOrigin", expires_at AS "expiresAt",
       rotated_at AS "rotatedAt", last_used_at AS "lastUsedAt", created_by AS "createdBy",
       created_at AS "createdAt", updated_at AS "updatedAt",
       (SELECT count(*) FROM mcp_instances i WHERE i.connection_id = c.id AND i.tenant_id = c.tenant_id)::int
       + (SELECT count(*) FROM mcp_config_profiles p WHERE p.connection_id = c.id AND p.tenant_id = c.tenant_id)::int
         AS "usedBy"
     FROM connections c
     WHERE tenant_id = $1 AND (project_id IS NULL OR project_id = $10) AND status NOT IN ('pending', 'deleting')
       AND ($2::text IS NULL OR provider = $2) AND ($3::text IS NULL OR service = $3) AND ($4::text IS NULL OR status = $4)
       AND ($5::text IS NULL OR name ILIKE $6 OR provider ILIKE $6 OR service ILIKE $6 OR id::text = lower($5))
       AND ($7::timestamptz IS NULL OR (created_at, id) < ($7, $8::uuid))
     ORDER BY created_at DESC, id DESC LIMIT $9`,
    [
      tenantId,
      filter.provider ?? null,
      filter.service ?? null,
      filter.status ?? null,
      filter.q ?? null,
      filter.q === undefined ? null : `%${escapeLike(filter.q)}%`,
      after && new Date(after[0]),
      after?.[1],
      take,
      projectId,
    ],
  );
  return rows;
}
