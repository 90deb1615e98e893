import type { Pool } from 'pg';
import type { StopFilter } from './schemas.ts';

/** Returns the kind of the first id in a filter that is not in the tenant or in the filter's project; null if all are. */
export async function findMissing(
  pool: Pool,
  tenantId: string,
  { project_id, workflow_ids, root_run_id }: StopFilter,
): Promise<'Project' | 'Workflow' | 'Run' | null> {
  const { rows } = await pool.query<{ project: boolean; workflows: boolean; run: boolean }>(
    `SELECT $2::uuid IS NULL OR EXISTS (SELECT FROM projects WHERE id = $2 AND tenant_id = $1) AS project,
            NOT EXISTS (SELECT FROM unnest($3::uuid[]) given(id) WHERE NOT EXISTS (
              SELECT FROM workflows w WHERE w.id = given.id AND w.tenant_id = $1
                 AND ($2::uuid IS NULL OR w.project_id = $2))) AS workflows,
            $4::uuid IS NULL OR EXISTS (SELECT FROM runs WHERE id = $4 AND tenant_id = $1
                 AND ($2::uuid IS NULL OR project_id = $2)) AS run`,
    [tenantId, project_id ?? null, workflow_ids ?? [], root_run_id ?? null],
  );
  const [has] = rows;
  if (!has?.project) return 'Project';
  if (!has.workflows) return 'Workflow';
  return has.run ? null : 'Run';
}

/** Returns whether the project lacks one of the runs. */
export async function findMissingRun(
  pool: Pool,
  { tenantId, projectId }: { tenantId: string; projectId: string },
  runIds: readonly string[],
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `SELECT FROM unnest($1::uuid[]) given(id)
      WHERE NOT EXISTS (SELECT FROM runs r WHERE r.id = given.id AND r.tenant_id = $2 AND r.project_id = $3) LIMIT 1`,
    [runIds, tenantId, projectId],
  );
  return rowCount === 1;
}
