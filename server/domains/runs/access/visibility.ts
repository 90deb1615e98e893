import type { Context } from '../../../operation/context.ts';
import { projectsOf } from '../store.ts';

/**
 * Returns the projects whose runs and tasks the tenant-wide feeds show: all projects for a `tenant_admin`, and the
 * projects of which they are a member for other users. A PAT sees the same as its user here, although other operations
 * bind it to one project.
 */
export function visibleProjects(ctx: Context): Promise<string[]> {
  const { tenantId, userId, role } = ctx.principal;
  return projectsOf(ctx.services.pool, tenantId, role === 'tenant_admin' ? null : userId);
}
