import type { Pool } from 'pg';
import { isId } from '../../platform/ids.ts';

/**
 * Returns the present names of what an administrator of the workspace manages, by id: not those of conversations and memories, which
 * are their owners' own. What is not there, or another workspace's, has no name here.
 */
export async function readNames(
  pool: Pool,
  tenantId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(ids)].filter(isId);
  if (wanted.length === 0) return new Map();
  const { rows } = await pool.query<{ id: string; name: string }>(
    `SELECT id, name FROM workflows WHERE tenant_id = $1 AND id = ANY($2::uuid[])
     UNION ALL SELECT id, name FROM projects WHERE tenant_id = $1 AND id = ANY($2::uuid[])
     UNION ALL SELECT id, name FROM connections WHERE tenant_id = $1 AND id = ANY($2::uuid[])
     UNION ALL SELECT id, name FROM mcp_servers WHERE tenant_id = $1 AND id = ANY($2::uuid[])
     UNION ALL SELECT id, name FROM mcp_instances WHERE tenant_id = $1 AND id = ANY($2::uuid[])
     UNION ALL SELECT id, name FROM webhook_subscriptions WHERE tenant_id = $1 AND id = ANY($2::uuid[])
     UNION ALL SELECT id, display_name FROM pats WHERE tenant_id = $1 AND id = ANY($2::uuid[])
     UNION ALL SELECT u.id, u.name FROM users u JOIN memberships m ON m.user_id = u.id
                WHERE m.tenant_id = $1 AND u.id = ANY($2::uuid[])`,
    [tenantId, wanted],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}
