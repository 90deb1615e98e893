import type { Pool } from 'pg';
import type { z } from 'zod';
import type { JsonMap } from '../../../orchestrator/core/index.ts';
import { patternsNaming } from '../../../orchestrator/steps/references.ts';
import type { McpTool } from '../../../platform/mcp-client/index.ts';
import { containsPattern } from '../../../platform/postgres/prisma.ts';
import { stepsNaming } from '../../workflows/queries.ts';
import { type AuthMode, limits, type ServerStatus } from '../schemas.ts';

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

const columns = `i.id, i.project_id, i.server_id, s.name AS server_name, s.service AS server_service,
  s.status AS server_status, s.auth_mode, i.version, v.version AS effective_version,
  coalesce(json_array_length(v.tools), 0) AS tool_count, i.name, i.connection_id, c.name AS connection_name, i.config,
  p.id AS active_profile_id, p.name AS active_profile_name, i.created_at, i.updated_at`;
const from = `mcp_instances i JOIN mcp_servers s ON s.id = i.server_id AND s.tenant_id = i.tenant_id
  LEFT JOIN mcp_server_versions v ON v.server_id = s.id AND v.version = coalesce(i.version, s.latest_version)
  LEFT JOIN connections c ON c.id = i.connection_id AND c.tenant_id = i.tenant_id
  LEFT JOIN mcp_config_profiles p ON p.id = i.active_profile_id AND p.instance_id = i.id`;

/**
 * Inserts an instance. Returns false if the project is at its limit. Rejects with a foreign key
 * violation if the server is gone.
 */
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
    `INSERT INTO mcp_instances (id, tenant_id, project_id, server_id, version, name, connection_id, config, created_by,
       created_at, updated_at)
     SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10
      WHERE (SELECT count(*) FROM mcp_instances WHERE tenant_id = $2 AND project_id = $3) < $11`,
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

/** Returns null if the project does not have the instance. */
export async function findInstance(pool: Pool, key: InstanceKey): Promise<InstanceRow | null> {
  const { rows } = await pool.query<InstanceRow>(
    `SELECT ${columns} FROM ${from} WHERE i.id = $1 AND i.tenant_id = $2 AND i.project_id = $3`,
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

/** Returns instances of the project, newest first. */
export async function listInstanceRows(pool: Pool, key: ProjectKey, filter: InstanceFilter): Promise<InstanceRow[]> {
  const { rows } = await pool.query<InstanceRow>(
    `SELECT ${columns} FROM ${from}
      WHERE i.tenant_id = $1 AND i.project_id = $2 AND ($3::uuid IS NULL OR i.server_id = $3)
        AND ($4::text IS NULL OR i.name ILIKE $4 OR s.name ILIKE $4)
        AND ($5::timestamptz IS NULL OR (i.created_at, i.id) < ($5, $6::uuid))
      ORDER BY i.created_at DESC, i.id DESC LIMIT $7`,
    [
      key.tenantId,
      key.projectId,
      filter.serverId ?? null,
      containsPattern(filter.q),
      filter.after?.at ?? null,
      filter.after?.id ?? null,
      filter.limit,
    ],
  );
  return rows;
}

export type InstanceUseRow = { workflow_id: string; name: string; draft: boolean; published: boolean };

/**
 * Returns at most `limit` workflows of the project whose draft or latest version has a step that names this instance.
 * Steps in loops count.
 */
export async function usesOfInstance(pool: Pool, key: InstanceKey, limit: number): Promise<InstanceUseRow[]> {
  const { rows } = await pool.query<InstanceUseRow>(
    `${stepsNaming({ tenantId: '$2', projectId: '$3', id: '$1' })}
     SELECT c.id AS workflow_id, c.name, bool_or(NOT f.published) AS draft, bool_or(f.published) AS published
       FROM candidate c JOIN found f ON f.id = c.id
      WHERE f.step::jsonb @> ANY($4::jsonb[])
      GROUP BY c.id, c.name ORDER BY c.name, c.id LIMIT $5`,
    [key.id, key.tenantId, key.projectId, patternsNaming('instances', key.id).map(step => JSON.stringify(step)), limit],
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

/** Returns the present bindings of these instances of one project. The active profile's connection has priority over the instance's. */
export async function findBindings(pool: Pool, key: ProjectKey, ids: readonly string[]): Promise<BindingRow[]> {
  const { rows } = await pool.query<BindingRow>(
    `SELECT i.id, i.name, s.id AS server_id, s.name AS server_name, s.service AS server_service,
            s.status AS server_status, s.auth_mode, s.canonical_url, v.version,
            coalesce((SELECT json_agg(json_build_object('name', t->'name')) FROM json_array_elements(v.tools) t), '[]'::json) AS tools,
            p.id AS profile_id, p.name AS profile_name,
            c.id AS connection_id, c.name AS connection_name, c.status AS connection_status,
            c.origins AS connection_origins
       FROM mcp_instances i JOIN mcp_servers s ON s.id = i.server_id AND s.tenant_id = i.tenant_id
       LEFT JOIN mcp_server_versions v ON v.server_id = s.id AND v.version = coalesce(i.version, s.latest_version)
       LEFT JOIN mcp_config_profiles p ON p.id = i.active_profile_id AND p.instance_id = i.id
       LEFT JOIN connections c ON c.id = coalesce(p.connection_id, i.connection_id) AND c.tenant_id = i.tenant_id
        AND (c.project_id IS NULL OR c.project_id = i.project_id)
      WHERE i.tenant_id = $1 AND i.project_id = $2 AND i.id = ANY($3::uuid[])`,
    [key.tenantId, key.projectId, ids],
  );
  return rows;
}

export type OfferRow = { tool_name: string; instance_id: string; name: string; server_name: string };

/** Returns instances of the project that offer a tool with one of these names: at most five for each name, newest first. */
export async function findOffers(pool: Pool, key: ProjectKey, tools: readonly string[]): Promise<OfferRow[]> {
  const { rows } = await pool.query<OfferRow>(
    `SELECT tool_name, instance_id, name, server_name
       FROM (SELECT t->>'name' AS tool_name, i.id AS instance_id, i.name, s.name AS server_name,
                    row_number() OVER (PARTITION BY t->>'name' ORDER BY i.created_at DESC, i.id DESC) AS place
               FROM mcp_instances i JOIN mcp_servers s ON s.id = i.server_id AND s.status = 'published'
               JOIN mcp_server_versions v ON v.server_id = s.id AND v.version = coalesce(i.version, s.latest_version),
                    json_array_elements(v.tools) t
              WHERE i.tenant_id = $1 AND i.project_id = $2 AND t->>'name' = ANY($3::text[])) offers
      WHERE place <= 5 ORDER BY tool_name, place`,
    [key.tenantId, key.projectId, tools],
  );
  return rows;
}
