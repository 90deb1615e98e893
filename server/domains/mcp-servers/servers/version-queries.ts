import type { Pool } from 'pg';
import type { McpTool } from '../../../platform/mcp-client/index.ts';
import type { ServerKey, StoredServerInfo } from './store.ts';

export type VersionSummaryRow = {
  server_id: string;
  version: number;
  changelog: string;
  checksum: string;
  tool_count: number;
  published_by: string;
  published_at: Date;
};
export type VersionRow = VersionSummaryRow & { tools: McpTool[]; server_info: StoredServerInfo };

const summary = `v.server_id, v.version, v.changelog, v.checksum, json_array_length(v.tools) AS tool_count,
  coalesce(u.email, v.published_by::text) AS published_by, v.published_at`;
const from = 'mcp_server_versions v LEFT JOIN users u ON u.id = v.published_by';

/**
 * Publishes the last discovery under the next number if the server is still at version `previous` with the discovery of
 * `discoveredAt`; otherwise returns false. One statement: of two concurrent publishers, one finds nothing to update.
 */
export async function insertServerVersion(
  pool: Pool,
  ref: ServerKey & { previous: number | null; discoveredAt: Date },
  published: { changelog: string; checksum: string; by: string; at: Date },
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `WITH server AS (
       UPDATE mcp_servers
          SET latest_version = coalesce(latest_version, 0) + 1, status = 'published', updated_at = $5
        WHERE id = $1 AND tenant_id = $2 AND latest_version IS NOT DISTINCT FROM $3::int AND discovered_at = $4
        RETURNING id, tenant_id, latest_version, discovered)
     INSERT INTO mcp_server_versions (server_id, version, tenant_id, tools, server_info, changelog, checksum,
       published_by, published_at)
     SELECT id, latest_version, tenant_id, discovered->'tools', discovered->'server_info', $6, $7, $8, $5 FROM server`,
    [
      ref.id,
      ref.tenantId,
      ref.previous,
      ref.discoveredAt,
      published.at,
      published.changelog,
      published.checksum,
      published.by,
    ],
  );
  return rowCount === 1;
}

/** Returns versions, newest first, without their tools; `before` is the number after which the page begins. */
export async function listServerVersions(
  pool: Pool,
  { tenantId, id }: ServerKey,
  page: { before: number | null; limit: number },
): Promise<VersionSummaryRow[]> {
  const { rows } = await pool.query<VersionSummaryRow>(
    `SELECT ${summary} FROM ${from}
      WHERE v.tenant_id = $1 AND v.server_id = $2 AND ($3::int IS NULL OR v.version < $3)
      ORDER BY v.version DESC LIMIT $4`,
    [tenantId, id, page.before, page.limit],
  );
  return rows;
}

export async function findServerVersion(
  pool: Pool,
  { tenantId, id }: ServerKey,
  version: number,
): Promise<VersionRow | null> {
  const { rows } = await pool.query<VersionRow>(
    `SELECT ${summary}, v.tools, v.server_info FROM ${from} WHERE v.tenant_id = $1 AND v.server_id = $2 AND v.version = $3`,
    [tenantId, id, version],
  );
  return rows[0] ?? null;
}
