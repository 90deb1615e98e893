import type { Pool } from 'pg';
import type { McpTool } from '../../../platform/mcp-client/index.ts';
import { likePattern } from '../servers/store.ts';

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
  after: { serverId: string; name: string } | null;
  limit: number;
};

/**
 * The tools of what is published: each server's latest version, or, where `instanceId` is given, the version that this instance of
 * the project calls. In the order of servers, then names; a tool's instances are those of the project that call this very version.
 */
export async function listToolRows(
  pool: Pool,
  { tenantId, projectId }: { tenantId: string; projectId: string },
  filter: ToolFilter,
): Promise<CatalogToolRow[]> {
  const { rows } = await pool.query<CatalogToolRow>(
    `with instance as (
       select server_id, version from mcp_instances where id = $4::uuid and tenant_id = $1 and project_id = $2),
     catalogue as (
       select s.id, s.name, s.service, s.latest_version, v.version, v.tools
         from mcp_servers s
         left join instance on instance.server_id = s.id
         join mcp_server_versions v on v.server_id = s.id and v.version = coalesce(instance.version, s.latest_version)
        where s.tenant_id = $1 and s.status = 'published' and ($3::uuid is null or s.id = $3)
          and ($4::uuid is null or instance.server_id is not null)
          and ($6::uuid is null or s.id >= $6)),
     page as (
       select c.id, c.name, c.service, c.latest_version, c.version, t.tool, t.tool->>'name' as tool_name
         from catalogue c, json_array_elements(c.tools) t(tool)
        where ($5::text is null or t.tool->>'name' ilike $5 or t.tool->>'title' ilike $5 or t.tool->>'description' ilike $5)
          and ($6::uuid is null or (c.id, t.tool->>'name' collate "C") > ($6, $7::text))
        order by c.id, t.tool->>'name' collate "C" limit $8)
     select p.id as server_id, p.name as server_name, p.service as server_service, p.version, p.tool,
            coalesce((select json_agg(json_build_object('id', i.id, 'name', i.name) order by i.created_at, i.id)
                        from (select id, name, created_at from mcp_instances
                               where server_id = p.id and tenant_id = $1 and project_id = $2
                                 and coalesce(version, p.latest_version) = p.version
                               order by created_at, id limit 20) i), '[]'::json) as instances
       from page p order by p.id, p.tool_name collate "C"`,
    [
      tenantId,
      projectId,
      filter.serverId ?? null,
      filter.instanceId ?? null,
      likePattern(filter.q),
      filter.after?.serverId ?? null,
      filter.after?.name ?? null,
      filter.limit,
    ],
  );
  return rows;
}

/** Ids of the tenant's servers by address, the oldest of each. */
export async function serversByUrl(
  pool: Pool,
  tenantId: string,
  urls: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await pool.query<{ id: string; canonical_url: string }>(
    `select id, canonical_url from mcp_servers where tenant_id = $1 and canonical_url = any($2::text[])
      order by created_at desc, id desc`,
    [tenantId, urls],
  );
  return new Map(rows.map(row => [row.canonical_url, row.id]));
}
