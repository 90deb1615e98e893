import type { Queryable } from '../../platform/postgres/transaction.ts';

/**
 * Copies the membership and the roles of one account in a tenant to another account, which keeps the roles that it has.
 */
export async function copyMembership(
  tx: Queryable,
  { tenantId, userId }: { tenantId: string; userId: string },
  to: string,
): Promise<void> {
  await tx.query(
    `INSERT INTO memberships (tenant_id, user_id, tenant_admin, created_at)
     SELECT tenant_id, $3::uuid, tenant_admin, created_at FROM memberships WHERE tenant_id = $1 AND user_id = $2
     ON CONFLICT (tenant_id, user_id) DO UPDATE SET tenant_admin = memberships.tenant_admin OR excluded.tenant_admin`,
    [tenantId, userId, to],
  );
  await tx.query(
    `INSERT INTO project_members (project_id, user_id, tenant_id, role, created_at)
     SELECT project_id, $3::uuid, tenant_id, role, created_at FROM project_members WHERE tenant_id = $1 AND user_id = $2
     ON CONFLICT (project_id, user_id) DO NOTHING`,
    [tenantId, userId, to],
  );
}
