import type { Pool } from 'pg';
import type { McpTool } from '../../../platform/mcp-client/index.ts';
import { containsPattern } from '../../../platform/postgres/prisma.ts';

export type CatalogToolRow = {
  server_id: string;
  server_name: string;
  server_service: string;
  version: number;
  tool: McpTool;
  instances: { id: string; name: string }[];
};

export type ToolFilter = {
  serverId?: string | undefined;
  instanceId?: string | undefined;
  q?: string | undefined;
  /** The tools of exactly this name. */
  name?: string | undefined;
  after: { serverId: string; name: string } | null;
  limit: number;
};

/**
 * Returns the published tools: of each server's latest version, or, if `instanceId` is given, of the version
 * that this instance of the project calls. Sorted by server, then name; a tool's instances are those of the
 * project that call this version.
 */
export async function listToolRows(
  pool: Pool,
  { tenantId, projectId }: { tenantId: string; projectId: string },
  filter: ToolFilter,
): Promise<CatalogToolRow[]> {
  const { rows } = await pool.query<CatalogToolRow>(
    `WITH instance AS (
       SELECT server_id, version FROM mcp_instances WHERE id = $4::uuid AND tenant_id = $1 AND project_id = $2),
     catalog AS (
       SELECT s.id, s.name, s.service, s.latest_version, v.version, v.tools
         FROM mcp_servers s
         LEFT JOIN instance ON instance.server_id = s.id
         JOIN mcp_server_versions v ON v.server_id = s.id AND v.version = coalesce(instance.version, s.latest_version)
        WHERE s.tenant_id = $1 AND s.status = 'published' AND ($3::uuid IS NULL OR s.id = $3)
          AND ($4::uuid IS NULL OR instance.server_id IS NOT NULL)
          AND ($6::uuid IS NULL OR s.id >= $6)),
     page AS (
       SELECT c.id, c.name, c.service, c.latest_version, c.version, t.tool, t.tool->>'name' AS tool_name
         FROM catalog c, json_array_elements(c.tools) t(tool)
        WHERE ($5::text IS NULL OR t.tool->>'name' ILIKE $5 OR t.tool->>'title' ILIKE $5 OR t.tool->>'description' ILIKE $5)
          AND ($9::text IS NULL OR t.tool->>'name' = $9)
          AND ($6::uuid IS NULL OR (c.id, t.tool->>'name' COLLATE "C") > ($6, $7::text))
        ORDER BY c.id, t.tool->>'name' COLLATE "C" LIMIT $8)
     SELECT p.id AS server_id, p.name AS server_name, p.service AS server_service, p.version, p.tool,
            coalesce((SELECT json_agg(json_build_object('id', i.id, 'name', i.name) ORDER BY i.created_at, i.id)
                        FROM (SELECT id, name, created_at FROM mcp_instances
                               WHERE server_id = p.id AND tenant_id = $1 AND project_id = $2
                                 AND coalesce(version, p.latest_version) = p.version
                               ORDER BY created_at, id LIMIT 20) i), '[]'::json) AS instances
       FROM page p ORDER BY p.id, p.tool_name COLLATE "C"`,
    [
      tenantId,
      projectId,
      filter.serverId ?? null,
      filter.instanceId ?? null,
      containsPattern(filter.q),
      filter.after?.serverId ?? null,
      filter.after?.name ?? null,
      filter.limit,
      filter.name ?? null,
    ],
  );
  return rows;
}
