import type { Context } from '../../operation/context.ts';
import { invalid } from '../../platform/errors.ts';
import { requireScopes } from '../identity/authority.ts';
import { isWellFormedPat, patHash } from '../identity/pats/token.ts';
import { effectiveRole } from '../identity/principal.ts';
import type { PatGrant } from '../identity/principal-cache.ts';
import { findProjectGrant, type ProjectScope } from './queries.ts';

/**
 * Returns whether a token may start runs of this project now: it is valid and belongs to this project, has the scope,
 * and its user is at least a contributor.
 */
export function mayStart(
  grant: PatGrant | null,
  { tenantId, projectId }: ProjectScope,
  now: number,
): grant is PatGrant {
  if (grant === null || grant.tenantId !== tenantId || grant.projectId !== projectId) return false;
  if (grant.expiresAt !== null && grant.expiresAt <= now) return false;
  const role = effectiveRole(grant.tenantAdmin, grant.projectRole);
  return role !== null && role !== 'project_viewer' && grant.scopes.includes('workflow:run');
}

export type AutomationChoice = {
  automation_pat_id?: string | null | undefined;
  automation_bearer?: string | undefined;
};

/**
 * Returns the id of the token to which runs are attributed; null for none. A contributor may name only their own tokens
 * by id, and an administrator any token of the project; a caller that authenticates with the token may store it. Throws
 * AppError 403 if the caller is a token that cannot start runs itself, 422 for a token that is unknown, another user's,
 * expired, revoked or without `workflow:run`: the answer does not distinguish these.
 */
export async function resolveAutomation(
  { principal, services }: Context,
  choice: AutomationChoice,
): Promise<string | null> {
  const { automation_pat_id: id, automation_bearer: bearer } = choice;
  if (bearer === undefined && (id === undefined || id === null)) return null;
  const path = bearer === undefined ? 'automation_pat_id' : 'automation_bearer';
  if (bearer !== undefined && id !== undefined) throw unusable(path, 'cannot be given together with automation_pat_id');
  requireScopes(principal, ['workflow:run']);
  const by = bearer === undefined ? { id: id ?? '' } : { tokenHash: patHash(bearer) };
  const wellFormed = bearer === undefined || isWellFormedPat(bearer);
  const grant = wellFormed ? await findProjectGrant(services.pool, principal, by) : null;
  const allowed = bearer !== undefined || principal.role === 'tenant_admin' || grant?.userId === principal.userId;
  if (!allowed || !mayStart(grant, principal, services.clock.now())) {
    throw unusable(path, 'must be a valid token of your own in this project, with the scope workflow:run');
  }
  return grant.patId;
}

const unusable = (path: string, message: string) =>
  invalid('The automation token cannot be used.', [{ path, message }], 'invalid_automation_token');
