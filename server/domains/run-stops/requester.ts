import type { Context, Principal } from '../../operation/context.ts';
import type { Services } from '../../operation/services.ts';
import { type Scope, scopes } from '../../orchestrator/ports/authority.ts';
import { newRequestId } from '../../platform/ids.ts';
import { findRights } from '../agents/authority-queries.ts';
import { effectiveRole } from '../identity/principal.ts';
import type { Requester } from './actions.ts';
import type { StopRow } from './store.ts';

/** The scope that a token needs for starts. A member needs to be more than a viewer. */
const NEEDED_SCOPE = 'workflow:run';

/**
 * Returns the context in which a bulk action starts runs: that of its requester, with the current role and scopes. Null if these no longer
 * suffice.
 */
export async function contextOf(services: Services, { tenantId, filter, requester }: StopRow): Promise<Context | null> {
  const projectId = filter.project_id;
  if (requester === null || projectId === undefined) return null;
  const principal = await principalOf(services, { tenantId, projectId }, requester);
  if (principal === null) return null;
  const { surface } = requester;
  const none = { headers: new Map<string, string>(), responseHeaders: new Map<string, string>() };
  return { principal, services, requestId: newRequestId(), surface, ...none };
}

async function principalOf(
  { pool, clock }: Services,
  place: { tenantId: string; projectId: string },
  { actsFor }: Requester,
): Promise<Principal | null> {
  const rights = await findRights(pool, place, actsFor);
  const role = rights && effectiveRole(rights.tenant_admin, rights.role);
  if (rights === null || role === null || role === 'project_viewer') return null;
  const { user_id: userId, pat_id: patId } = actsFor;
  const expired = rights.expires_at !== null && rights.expires_at.getTime() <= clock.now();
  // The scopes of a token were validated when it was created.
  const currentScopes = patId === null ? scopes : expired ? null : (rights.scopes as Scope[] | null);
  if (currentScopes === null || !currentScopes.includes(NEEDED_SCOPE)) return null;
  const credential =
    patId === null ? ({ kind: 'session' } as const) : ({ kind: 'pat', patId, scopes: currentScopes } as const);
  return { ...place, userId, email: rights.email, name: rights.email, role, credential };
}
