import type { Principal } from '../../operation/context.ts';
import type { Services } from '../../operation/services.ts';
import { projectRoles, type Role } from '../../orchestrator/ports/authority.ts';
import { MINUTE_MS } from '../../platform/clock.ts';
import { forbidden } from '../../platform/errors.ts';
import { isWellFormedPat, patHashText } from './pats/token.ts';
import { type PatGrant, principalCache } from './principal-cache.ts';
import { findGrant, findSessionPrincipal, saveLastUsed } from './principal-queries.ts';
import type { Session } from './sessions.ts';

type PrincipalServices = Pick<Services, 'pool' | 'clock' | 'logger'>;

/** X-Tenant-Id and X-Project-Id: the tenant's slug, and the project's id or its name, in upper or lower case. */
export type RequestedScope = { tenantId?: string | undefined; projectId?: string | undefined };

const foreignScope = () => forbidden('You have no access to this workspace or project.', 'wrong_scope');
const noRole = () =>
  forbidden('You have no role on any project here; ask an administrator for one.', 'no_project_role');

/** Returns the role of a user: `tenant_admin` outranks any project role. Null if the user has neither. */
export function effectiveRole(tenantAdmin: boolean, projectRole: string | null): Role | null {
  if (tenantAdmin) return 'tenant_admin';
  return projectRoles.find(role => role === projectRole) ?? null;
}

/** Writes last_used_at if the minute has changed. No request waits for it, and a failure is only logged. */
export function recordUse(services: PrincipalServices, grant: PatGrant, now: number): void {
  const minute = Math.floor(now / MINUTE_MS);
  if (grant.lastUsedMinute !== null && minute <= grant.lastUsedMinute) return;
  grant.lastUsedMinute = minute;
  const { pendingWrites } = principalCache(services);
  const write = saveLastUsed(services.pool, grant.patId, new Date(minute * MINUTE_MS))
    .then(
      () => undefined,
      error => services.logger.warn({ err: error, pat_id: grant.patId }, 'last_used_at was not written'),
    )
    .finally(() => pendingWrites.delete(write));
  pendingWrites.add(write);
}

/** Waits for pending writes of last_used_at; called before the pool is closed. */
export async function settleLastUsed(services: Pick<Services, 'pool'>): Promise<void> {
  await Promise.all(principalCache(services).pendingWrites);
}

/**
 * Returns the principal of a personal access token, with the user's current role; null if the token is malformed (no
 * query is made), unknown, revoked, expired, or its user was removed. Makes at most one indexed query, and none within
 * 2 s of the last one. Throws AppError 403 when `requested` differs from the token's own tenant and project, or its user
 * no longer has a role there.
 */
export async function resolvePat(
  services: PrincipalServices,
  token: string,
  requested: RequestedScope = {},
): Promise<Principal | null> {
  const now = services.clock.now();
  const cache = principalCache(services);
  const key = patHashText(token);
  let grant = cache.get(key, now) ?? null;
  if (!grant) {
    if (!isWellFormedPat(token)) return null;
    grant = await cache.share(key, async () => {
      const generation = cache.generation();
      const read = await findGrant(services.pool, Buffer.from(key, 'base64'));
      if (read) cache.put(key, read, now, generation);
      return read;
    });
    if (!grant) return null;
  }
  if (grant.expiresAt !== null && grant.expiresAt <= now) return null;
  const { tenantId, projectId } = requested;
  if (tenantId !== undefined && tenantId !== grant.tenantId) throw foreignScope();
  const project = projectId?.toLowerCase();
  if (project !== undefined && project !== grant.projectId && project !== grant.projectName.toLowerCase()) {
    throw foreignScope();
  }
  const role = effectiveRole(grant.tenantAdmin, grant.projectRole);
  if (role === null) throw noRole();
  recordUse(services, grant, now);
  return {
    userId: grant.userId,
    email: grant.email,
    name: grant.name,
    tenantId: grant.tenantId,
    projectId: grant.projectId,
    role,
    credential: { kind: 'pat', patId: grant.patId, scopes: grant.scopes },
  };
}

/**
 * Returns the principal of a session cookie, read again at each request, so that a changed role takes effect at once.
 * Returns null if the user no longer exists, or ended this session or all sessions (the epoch advanced). Throws AppError
 * 403 for a tenant or project that is unknown or foreign (the answer does not distinguish them), and for a member
 * without a role.
 */
export async function resolveSession(
  services: Pick<Services, 'pool' | 'clock'>,
  session: Session,
  requested: RequestedScope = {},
): Promise<Principal | null> {
  if (session.until !== undefined && session.until <= services.clock.now()) return null;
  const row = await findSessionPrincipal(services.pool, session, requested);
  if (!row || row.ended || row.session_epoch !== session.sessionEpoch) return null;
  const isScopeRequested = requested.tenantId !== undefined || requested.projectId !== undefined;
  if (row.tenant_id === null || row.project_id === null) {
    throw isScopeRequested ? foreignScope() : forbidden('You are not a member of any workspace.', 'no_workspace');
  }
  const role = effectiveRole(row.tenant_admin === true, row.role);
  if (role === null) throw requested.projectId === undefined ? noRole() : foreignScope();
  return {
    userId: session.userId,
    email: row.email,
    name: row.name,
    tenantId: row.tenant_id,
    projectId: row.project_id,
    role,
    credential: { kind: 'session' },
  };
}
