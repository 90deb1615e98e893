import type { Pool } from 'pg';
import type { ToolSource } from '../../workflows/tool-of-workflow.ts';
import { TOOL_SOURCE } from '../../workflows/tools-queries.ts';

/** A workflow or an agent, with the facts in its latest version. `version` is null if none is published. */
export type RunToolRow = ToolSource & {
  id: string;
  status: 'draft' | 'published' | 'archived';
  is_disabled: boolean;
  version: number | null;
};

/** Returns the given workflows of this kind that the project has. */
export async function findRunTools(
  pool: Pool,
  { tenantId, projectId }: { tenantId: string; projectId: string },
  { kind, ids }: { kind: string; ids: readonly string[] },
): Promise<RunToolRow[]> {
  const { rows } = await pool.query<RunToolRow>({
    name: 'find_run_tools',
    text: `SELECT w.id, w.status, coalesce(a.status = 'disabled', false) AS is_disabled, v.version, ${TOOL_SOURCE}
             FROM workflows w
             LEFT JOIN workflow_versions v ON v.workflow_id = w.id AND v.version = w.latest_version AND v.tenant_id = w.tenant_id
             LEFT JOIN agents a ON a.id = w.id AND a.tenant_id = w.tenant_id
            WHERE w.tenant_id = $1 AND w.project_id = $2 AND w.id = ANY($3::uuid[]) AND w.kind = $4`,
    values: [tenantId, projectId, ids, kind],
  });
  return rows;
}
