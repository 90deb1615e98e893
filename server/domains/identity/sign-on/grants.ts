import type { GroupGrant } from '../../../operation/sign-on-settings.ts';
import { type ProjectRole, projectRoles } from '../../../orchestrator/ports/authority.ts';

type RoleMap = ReadonlyMap<string, readonly GroupGrant[]>;
/** The roles that a person's groups grant in one workspace, by the names of projects. */
export type Granted = { tenantAdmin: boolean; roles: ReadonlyMap<string, ProjectRole> };

/** Returns the workspaces that the map names, in the order in which tenants are locked. Groups alone decide who is a member there. */
export function mappedWorkspaces(map: RoleMap | null): string[] {
  const named = [...(map?.values() ?? [])].flat().map(({ workspace }) => workspace);
  return [...new Set(named)].sort();
}

/** Returns what these groups grant, by workspace. Of several roles on one project the one that may more counts. */
export function grantedBy(groups: ReadonlySet<string>, map: RoleMap | null): ReadonlyMap<string, Granted> {
  const granted = new Map<string, { tenantAdmin: boolean; roles: Map<string, ProjectRole> }>();
  for (const [group, grants] of map ?? []) {
    if (!groups.has(group)) continue;
    for (const { workspace, project, role, tenantAdmin } of grants) {
      const known = granted.get(workspace) ?? { tenantAdmin: false, roles: new Map<string, ProjectRole>() };
      granted.set(workspace, known);
      known.tenantAdmin ||= tenantAdmin;
      const present = known.roles.get(project);
      if (present === undefined || projectRoles.indexOf(role) > projectRoles.indexOf(present))
        known.roles.set(project, role);
    }
  }
  return granted;
}
