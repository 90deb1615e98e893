import type { Pool } from 'pg';
import type { z } from 'zod';
import type { JsonMap } from '../../../orchestrator/core/index.ts';
import type { McpTool } from '../../../platform/mcp-client/index.ts';
import type { AuthMode } from '../schemas.ts';

export type InstanceRef = { tenantId: string; projectId: string; instanceId: string };

/** An instance with everything that a call of its tools depends on. */
export type BoundRow = {
  id: string;
  name: string;
  config: JsonMap;
  server_id: string;
  server_name: string;
  canonical_url: string;
  auth_mode: z.output<typeof AuthMode>;
  /** The pinned version, else the latest published one; null if no version is published. */
  version: number | null;
  tools: McpTool[] | null;
  profile_settings: JsonMap | null;
  /** The connection of the active profile, else of the instance. */
  connection_id: string | null;
};

/** Returns null if the project does not have the instance. Every table is restricted to the tenant. */
export async function findBound(
  pool: Pool,
  { tenantId, projectId, instanceId }: InstanceRef,
): Promise<BoundRow | null> {
  const { rows } = await pool.query<BoundRow>({
    name: 'mcp-bound-instance',
    text: `SELECT i.id, i.name, i.config, s.id AS server_id, s.name AS server_name, s.canonical_url, s.auth_mode,
        v.version, v.tools, p.settings AS profile_settings, coalesce(p.connection_id, i.connection_id) AS connection_id
      FROM mcp_instances i
      JOIN mcp_servers s ON s.id = i.server_id AND s.tenant_id = i.tenant_id
      LEFT JOIN mcp_server_versions v ON v.server_id = s.id AND v.tenant_id = i.tenant_id
        AND v.version = coalesce(i.version, s.latest_version) AND s.status = 'published'
      LEFT JOIN mcp_config_profiles p ON p.id = i.active_profile_id AND p.instance_id = i.id AND p.tenant_id = i.tenant_id
      WHERE i.id = $1 AND i.tenant_id = $2 AND i.project_id = $3`,
    values: [instanceId, tenantId, projectId],
  });
  return rows[0] ?? null;
}
