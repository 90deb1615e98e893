import type { Pool } from 'pg';
import type { z } from 'zod';
import type { JsonMap } from '../../../orchestrator/core/index.ts';
import type { McpTool } from '../../../platform/mcp-client/index.ts';
import { type AuthMode, limits, type ServerStatus } from '../schemas.ts';
import { likePattern } from '../servers/store.ts';

export type ProjectKey = { tenantId: string; projectId: string };
export type InstanceKey = ProjectKey & { id: string };

export type InstanceRow = {
  id: string;
  project_id: string;
  server_id: string;
  server_name: string;
  server_service: string;
  server_status: z.output<typeof ServerStatus>;
  auth_mode: z.output<typeof AuthMode>;
  version: number | null;
  effective_version: number | null;
  tool_count: number;
  name: string;
  connection_id: string | null;
  connection_name: string | null;
  config: JsonMap;
  active_profile_id: string | null;
  active_profile_name: string | null;
  created_at: Date;
  updated_at: Date;
};

const columns = `i.id, i.project_id, i.server_id, s.name as server_name, s.service as server_service,
  s.status as server_status, s.auth_mode, i.version, v.version as effective_version,
  coalesce(json_array_length(v.tools), 0) as tool_count, i.name, i.connection_id, c.name as connection_name, i.config,
  p.id as active_profile_id, p.name as active_profile_name, i.created_at, i.updated_at`;
const from = `mcp_instances i join mcp_servers s on s.id = i.server_id and s.tenant_id = i.tenant_id
  left join mcp_server_versions v on v.server_id = s.id and v.version = coalesce(i.version, s.latest_version)
  left join connections c on c.id = i.connection_id and c.tenant_id = i.tenant_id
  left join mcp_config_profiles p on p.id = i.active_profile_id and p.instance_id = i.id`;

/** False where the project has as many instances as it may. Rejects with a foreign key violation where the server is gone. */
export async function insertInstance(
  pool: Pool,
  row: InstanceKey & {
    serverId: string;
    version: number | null;
    name: string;
    connectionId: string | null;
    config: JsonMap;
    createdBy: string;
    at: Date;
  },
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `insert into mcp_instances (id, tenant_id, project_id, server_id, version, name, connection_id, config, created_by,
       created_at, updated_at)
     select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10
      where (select count(*) from mcp_instances where tenant_id = $2 and project_id = $3) < $11`,
    [
      row.id,
      row.tenantId,
      row.projectId,
      row.serverId,
      row.version,
      row.name,
      row.connectionId,
      JSON.stringify(row.config),
      row.createdBy,
      row.at,
      limits.instancesPerProject,
    ],
  );
  return rowCount === 1;
}

/** Null where the project has none of that id. */
export async function findInstance(pool: Pool, key: InstanceKey): Promise<InstanceRow | null> {
  const { rows } = await pool.query<InstanceRow>(
    `select ${columns} from ${from} where i.id = $1 and i.tenant_id = $2 and i.project_id = $3`,
    [key.id, key.tenantId, key.projectId],
  );
  return rows[0] ?? null;
}

export type InstanceFilter = {
  serverId?: string | undefined;
  q?: string | undefined;
  after: { at: Date; id: string } | null;
  limit: number;
};

/** Newest first. */
export async function listInstanceRows(pool: Pool, key: ProjectKey, filter: InstanceFilter): Promise<InstanceRow[]> {
  const { rows } = await pool.query<InstanceRow>(
    `select ${columns} from ${from}
      where i.tenant_id = $1 and i.project_id = $2 and ($3::uuid is null or i.server_id = $3)
        and ($4::text is null or i.name ilike $4 or s.name ilike $4)
        and ($5::timestamptz is null or (i.created_at, i.id) < ($5, $6::uuid))
      order by i.created_at desc, i.id desc limit $7`,
    [
      key.tenantId,
      key.projectId,
      filter.serverId ?? null,
      likePattern(filter.q),
      filter.after?.at ?? null,
      filter.after?.id ?? null,
      filter.limit,
    ],
  );
  return rows;
}

export type InstanceChange = {
  name?: string | undefined;
  /** Null: follow the latest. */
  version?: number | null | undefined;
  connectionId?: string | null | undefined;
  config?: JsonMap | undefined;
};

/** Changes what is given; false where there is no such instance. */
export async function updateInstance(
  pool: Pool,
  key: InstanceKey & { at: Date },
  change: InstanceChange,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `update mcp_instances
        set name = coalesce($5, name), version = case when $6 then $7::int else version end,
            connection_id = case when $8 then $9::uuid else connection_id end,
            config = coalesce($10::json, config), updated_at = $4
      where id = $1 and tenant_id = $2 and project_id = $3`,
    [
      key.id,
      key.tenantId,
      key.projectId,
      key.at,
      change.name ?? null,
      change.version !== undefined,
      change.version ?? null,
      change.connectionId !== undefined,
      change.connectionId ?? null,
      change.config === undefined ? null : JSON.stringify(change.config),
    ],
  );
  return rowCount === 1;
}

/** False where there was none. */
export async function deleteInstanceRow(pool: Pool, key: InstanceKey): Promise<boolean> {
  const { rowCount } = await pool.query(
    'delete from mcp_instances where id = $1 and tenant_id = $2 and project_id = $3',
    [key.id, key.tenantId, key.projectId],
  );
  return rowCount === 1;
}

export type InstanceUseRow = { workflow_id: string; name: string; draft: boolean; published: boolean };

/**
 * The project's workflows, at most `limit`, whose draft or latest version has an `mcp_call` step with this instance. Searching
 * the text for the id first leaves the parsing to the few graphs that hold it.
 */
export async function usesOfInstance(pool: Pool, key: InstanceKey, limit: number): Promise<InstanceUseRow[]> {
  const { rows } = await pool.query<InstanceUseRow>(
    `with candidate as materialized (
       select w.id, w.name, w.graph as draft, v.graph_snapshot as published
         from workflows w
         left join workflow_versions v on v.workflow_id = w.id and v.version = w.latest_version and v.tenant_id = w.tenant_id
        where w.tenant_id = $2 and w.project_id = $3 and w.status <> 'archived'
          and (strpos(w.graph::text, $1) > 0 or strpos(v.graph_snapshot::text, $1) > 0)
        order by w.id limit 1000),
     used as (
       select id, name, draft::jsonb @> $4::jsonb as draft, coalesce(published::jsonb @> $4::jsonb, false) as published
         from candidate)
     select id as workflow_id, name, draft, published from used where draft or published order by name, id limit $5`,
    [
      key.id,
      key.tenantId,
      key.projectId,
      JSON.stringify({ steps: [{ type: 'mcp_call', instance_id: key.id }] }),
      limit,
    ],
  );
  return rows;
}

export type BindingRow = {
  id: string;
  name: string;
  server_id: string;
  server_name: string;
  server_service: string;
  server_status: z.output<typeof ServerStatus>;
  auth_mode: z.output<typeof AuthMode>;
  canonical_url: string;
  version: number | null;
  tools: Pick<McpTool, 'name'>[];
  profile_id: string | null;
  profile_name: string | null;
  connection_id: string | null;
  connection_name: string | null;
  connection_status: string | null;
  connection_origins: string[] | null;
};

/** What the instances of these ids, of one project, are bound to now; the active profile's connection before their own. */
export async function findBindings(pool: Pool, key: ProjectKey, ids: readonly string[]): Promise<BindingRow[]> {
  const { rows } = await pool.query<BindingRow>(
    `select i.id, i.name, s.id as server_id, s.name as server_name, s.service as server_service,
            s.status as server_status, s.auth_mode, s.canonical_url, v.version,
            coalesce((select json_agg(json_build_object('name', t->'name')) from json_array_elements(v.tools) t), '[]'::json) as tools,
            p.id as profile_id, p.name as profile_name,
            c.id as connection_id, c.name as connection_name, c.status as connection_status,
            c.origins as connection_origins
       from mcp_instances i join mcp_servers s on s.id = i.server_id and s.tenant_id = i.tenant_id
       left join mcp_server_versions v on v.server_id = s.id and v.version = coalesce(i.version, s.latest_version)
       left join mcp_config_profiles p on p.id = i.active_profile_id and p.instance_id = i.id
       left join connections c on c.id = coalesce(p.connection_id, i.connection_id) and c.tenant_id = i.tenant_id
        and (c.project_id is null or c.project_id = i.project_id)
      where i.tenant_id = $1 and i.project_id = $2 and i.id = any($3::uuid[])`,
    [key.tenantId, key.projectId, ids],
  );
  return rows;
}

export type OfferRow = { tool_name: string; instance_id: string; name: string; server_name: string };

/** Instances of the project that offer a tool of these names: at most five for each, the newest first. */
export async function findOffers(pool: Pool, key: ProjectKey, tools: readonly string[]): Promise<OfferRow[]> {
  const { rows } = await pool.query<OfferRow>(
    `select tool_name, instance_id, name, server_name
       from (select t->>'name' as tool_name, i.id as instance_id, i.name, s.name as server_name,
                    row_number() over (partition by t->>'name' order by i.created_at desc, i.id desc) as place
               from mcp_instances i join mcp_servers s on s.id = i.server_id and s.status = 'published'
               join mcp_server_versions v on v.server_id = s.id and v.version = coalesce(i.version, s.latest_version),
                    json_array_elements(v.tools) t
              where i.tenant_id = $1 and i.project_id = $2 and t->>'name' = any($3::text[])) offers
      where place <= 5 order by tool_name, place`,
    [key.tenantId, key.projectId, tools],
  );
  return rows;
}
