import type { Pool } from 'pg';
import type { ProjectScope } from './store.ts';
import type { ToolSource } from './tool-of-workflow.ts';

/**
 * The maximum number of workflows of a project that are offered as tools, the oldest ones. Each list of tools reads all their
 * declarations.
 */
export const MAX_WORKFLOW_TOOLS = 500;

/** A published workflow that declares a tool. */
export type DeclaredTool = { id: string; version: number; name: string; toolName: string | null };

/** SQL: the latest versions of a project that declare a tool. The condition matches that of a partial index. */
const DECLARED = `FROM workflows w
  JOIN workflow_versions v ON v.workflow_id = w.id AND v.version = w.latest_version AND v.tenant_id = w.tenant_id
 WHERE w.tenant_id = $1 AND w.project_id = $2 AND w.kind = 'workflow' AND w.status = 'published'
   AND (v.graph_snapshot -> 'tool') IS NOT NULL`;

/** Returns the published workflows of a project that declare a tool, the oldest first. */
export async function listDeclaredTools(pool: Pool, { tenantId, projectId }: ProjectScope): Promise<DeclaredTool[]> {
  const { rows } = await pool.query<DeclaredTool>(
    `SELECT w.id, w.latest_version AS version, w.name, v.graph_snapshot -> 'tool' ->> 'name' AS "toolName"
       ${DECLARED} ORDER BY w.id LIMIT ${MAX_WORKFLOW_TOOLS}`,
    [tenantId, projectId],
  );
  return rows;
}

/** SQL: the columns of a ToolSource, from the workflow `w` and its version `v`. */
export const TOOL_SOURCE = `w.name, w.description, v.graph_snapshot -> 'tool' AS tool,
  v.graph_snapshot -> 'input_schema' AS "inputSchema", v.run_setup -> 'trigger_payload' AS "triggerPayload"`;

/** Returns the sources of the tools of these workflows, by the ids of the workflows. */
export async function readToolSources(
  pool: Pool,
  { tenantId, projectId }: ProjectScope,
  ids: readonly string[],
): Promise<Map<string, ToolSource>> {
  const { rows } = await pool.query<{ id: string } & ToolSource>(
    `SELECT w.id, ${TOOL_SOURCE} ${DECLARED} AND w.id = ANY($3::uuid[])`,
    [tenantId, projectId, ids],
  );
  return new Map(rows.map(({ id, ...source }) => [id, source]));
}
