import type { Context } from '../../../operation/context.ts';
import { projectsOf } from '../store.ts';

/**
 * Returns the projects whose runs and tasks the tenant-wide feeds show: for a `tenant_admin` all of the
 * tenant, for others those of which they are a member. A PAT sees what its user sees; for everything else
 * it is bound to one project.
 */
export function visibleProjects(ctx: Context): Promise<string[]> {
  const { tenantId, userId, role } = ctx.principal;
  return projectsOf(ctx.services.pool, tenantId, role === 'tenant_admin' ? null : userId);
}
