import type { Pool } from 'pg';

/** Returns the latest completed runs of a workflow, newest first. */
export async function listCompletedRuns(
  pool: Pool,
  { tenantId, projectId, workflowId }: { tenantId: string; projectId: string; workflowId: string },
  limit: number,
): Promise<{ id: string; version: number }[]> {
  const { rows } = await pool.query<{ id: string; version: number }>(
    `SELECT id, version FROM runs
      WHERE workflow_id = $1 AND tenant_id = $2 AND project_id = $3 AND version > 0 AND status = 'completed'
      ORDER BY started_at DESC, id DESC LIMIT $4`,
    [workflowId, tenantId, projectId, limit],
  );
  return rows;
}
