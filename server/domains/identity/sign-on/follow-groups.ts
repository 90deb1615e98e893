import type { Services } from '../../../operation/services.ts';
import type { ProjectRole } from '../../../orchestrator/ports/authority.ts';
import type { Transaction } from '../../../platform/postgres/transaction.ts';
import { addMember } from '../account-store.ts';
import { lockTenant } from '../lock-queries.ts';
import {
  type DeadToken,
  deleteMemberRows,
  findMembership,
  hasOtherAdmin,
  setTenantAdmin,
  withdrawInvitationsOf,
} from '../member-store.ts';
import type { Granted } from './grants.ts';
import { SignOnRefused } from './refusal.ts';
import { deleteOtherRoles, readProjects, revokeTokensIn } from './store.ts';

/** The tokens that following the groups revoked, and the tenants whose membership ended. */
export type Ended = { tokens: DeadToken[]; left: string[] };
type Resolved = { tenantAdmin: boolean; roles: ReadonlyMap<string, ProjectRole> };

/**
 * Returns what is granted, with projects by their ids. Throws SignOnRefused if a workspace or project does not exist:
 * a misspelled map must not let anybody in with half of the roles.
 */
export async function resolveGrants(
  tx: Transaction,
  granted: ReadonlyMap<string, Granted>,
): Promise<ReadonlyMap<string, Resolved>> {
  const resolved = new Map<string, Resolved>();
  for (const [workspace, { tenantAdmin, roles }] of granted) {
    const projects = await readProjects(tx, workspace);
    const missing = (what: string) =>
      new SignOnRefused('sign_on_misconfigured', `BATON_OIDC_ROLE_MAP names ${what}, which does not exist`);
    if (projects === null) throw missing(`the workspace "${workspace}"`);
    const byId = new Map<string, ProjectRole>();
    for (const [name, role] of roles) {
      const id = projects.get(name);
      if (id === undefined) throw missing(`the project "${name}" of the workspace "${workspace}"`);
      byId.set(id, role);
    }
    resolved.set(workspace, { tenantAdmin, roles: byId });
  }
  return resolved;
}

/**
 * Gives an account exactly what its groups grant in each workspace that the map names, and ends what they no longer
 * grant, with the tokens there. The last administrator of a workspace keeps that role, since the workspace would have
 * none, but not the tokens.
 */
export async function followGroups(
  { services, tx, at }: { services: Pick<Services, 'logger'>; tx: Transaction; at: Date },
  userId: string,
  { workspaces, granted }: { workspaces: readonly string[]; granted: ReadonlyMap<string, Resolved> },
): Promise<Ended> {
  const ended: Ended = { tokens: [], left: [] };
  for (const tenantId of workspaces) {
    const ref = { tenantId, userId };
    await lockTenant(tx, tenantId);
    const membership = await findMembership(tx, ref);
    const grant = granted.get(tenantId);
    const isLast = membership?.tenantAdmin === true && !grant?.tenantAdmin && !(await hasOtherAdmin(tx, ref));
    if (isLast)
      services.logger.warn(
        { tenant_id: tenantId, user_id: userId },
        'sign-on: the groups no longer make this person an administrator, but the workspace has no other: the role stays',
      );
    const dead = await follow(tx, { ref, membership, grant, isLast }, at);
    ended.tokens.push(...dead.map(patId => ({ tenantId, patId })));
    if (membership !== null && grant === undefined && !isLast) ended.left.push(tenantId);
  }
  return ended;
}

type Change = {
  ref: { tenantId: string; userId: string };
  membership: { tenantAdmin: boolean } | null;
  grant: Resolved | undefined;
  isLast: boolean;
};

/** Returns the ids of the revoked tokens. */
async function follow(tx: Transaction, { ref, membership, grant, isLast }: Change, at: Date): Promise<string[]> {
  if (grant === undefined) {
    if (membership === null) return [];
    return isLast ? revokeTokensIn(tx, ref, at) : deleteMemberRows(tx, ref, at);
  }
  const tenantAdmin = grant.tenantAdmin || isLast;
  for (const [projectId, role] of grant.roles) await addMember(tx, { ...ref, projectId, role, tenantAdmin }, at);
  await deleteOtherRoles(tx, ref, [...grant.roles.keys()]);
  if (membership?.tenantAdmin && !tenantAdmin) {
    await setTenantAdmin(tx, ref, false);
    await withdrawInvitationsOf(tx, ref);
  }
  return [];
}
