import type { Pool } from 'pg';

/** Returns which of these addresses belong to people who may answer tasks of the project. `emails` are in lower case. */
export async function findAnswerers(
  pool: Pool,
  { tenantId, projectId }: { tenantId: string; projectId: string },
  emails: readonly string[],
): Promise<string[]> {
  const { rows } = await pool.query<{ email: string }>(
    `SELECT DISTINCT u.email FROM memberships m JOIN users u ON u.id = m.user_id
       LEFT JOIN project_members pm ON pm.project_id = $2 AND pm.user_id = m.user_id
      WHERE m.tenant_id = $1 AND u.email = ANY($3) AND (m.tenant_admin OR pm.role = 'project_contributor')`,
    [tenantId, projectId, emails],
  );
  return rows.map(({ email }) => email);
}
