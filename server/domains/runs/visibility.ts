import type { Context } from '../../contract/context.ts';
import { projectsOf } from './store.ts';

/**
 * The projects whose runs and tasks the tenant-wide feeds show: all of the tenant to a `tenant_admin`, to others those
 * they are a member of. A PAT sees what its user sees: it is bound to one project for everything else.
 */
export function visibleProjects(ctx: Context): Promise<string[]> {
  const { tenantId, userId, role } = ctx.principal;
  return projectsOf(ctx.services.pool, tenantId, role === 'tenant_admin' ? null : userId);
}
