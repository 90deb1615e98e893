import { type Principal, projectRoles, type Role, type Scope, scopes } from '../../contract/context.ts';
import type { Services } from '../../contract/services.ts';
import { forbidden } from '../../platform/errors.ts';
import { isWellFormedPat, patHashText } from '../pats/token.ts';
import { type PatGrant, principalCache } from './principal-cache.ts';
import type { Session } from './sessions.ts';

type PrincipalServices = Pick<Services, 'pool' | 'clock' | 'logger'>;

/** X-Tenant-Id and X-Project-Id: the tenant's slug, and the project's id or its name, in any case. */
export type RequestedScope = { tenantId?: string | undefined; projectId?: string | undefined };

const minuteMs = 60_000;
const foreignScope = () => forbidden('You have no access to this workspace or project.', 'wrong_scope');
const noRole = () =>
  forbidden('You have no role on any project here; ask an administrator for one.', 'no_project_role');

/** `tenant_admin` outranks any project role; null where there is neither. */
export function effectiveRole(tenantAdmin: boolean, projectRole: string | null): Role | null {
  if (tenantAdmin) return 'tenant_admin';
  return projectRoles.find(role => role === projectRole) ?? null;
}

export type PatRow = {
  id: string;
  tenant_id: string;
  project_id: string;
  project_name: string;
  user_id: string;
  email: string;
  name: string;
  tenant_admin: boolean;
  role: string | null;
  scopes: string[];
  expires_at: Date | null;
  last_used_at: Date | null;
};

/**
 * What tokens (`t`) stand for, as SQL to go on with ` AND …`. Three primary-key joins. A removed member or a deleted project leaves no
 * row: the token is dead. Expiry and role are for the reader.
 */
export const liveGrants = `SELECT t.id, t.tenant_id, t.project_id, p.name AS project_name, t.user_id, u.email, u.name, m.tenant_admin,
                pm.role, t.scopes, t.expires_at, t.last_used_at
         FROM pats t
         JOIN users u ON u.id = t.user_id
         JOIN memberships m ON m.tenant_id = t.tenant_id AND m.user_id = t.user_id
         JOIN projects p ON p.id = t.project_id AND p.tenant_id = t.tenant_id
         LEFT JOIN project_members pm ON pm.project_id = t.project_id AND pm.user_id = t.user_id
         WHERE t.revoked_at IS NULL`;

const patQuery = { name: 'resolve_pat', text: `${liveGrants} AND t.token_hash = $1` };

async function readGrant(services: PrincipalServices, hash: Buffer): Promise<PatGrant | null> {
  const { rows } = await services.pool.query<PatRow>({ ...patQuery, values: [hash] });
  const row = rows[0];
  return row ? toGrant(row) : null;
}

export function toGrant(row: PatRow): PatGrant {
  return {
    patId: row.id,
    tenantId: row.tenant_id,
    projectId: row.project_id,
    projectName: row.project_name,
    userId: row.user_id,
    email: row.email,
    name: row.name,
    tenantAdmin: row.tenant_admin,
    projectRole: row.role,
    scopes: scopes.filter((scope: Scope) => row.scopes.includes(scope)),
    expiresAt: row.expires_at?.getTime() ?? null,
    lastUsedMinute: row.last_used_at === null ? null : Math.floor(row.last_used_at.getTime() / minuteMs),
  };
}

/** Writes last_used_at when the minute has changed; nobody waits for it, and a failure is only logged. */
export function recordUse(services: PrincipalServices, grant: PatGrant, now: number): void {
  const minute = Math.floor(now / minuteMs);
  if (grant.lastUsedMinute !== null && minute <= grant.lastUsedMinute) return;
  grant.lastUsedMinute = minute;
  const { pendingWrites } = principalCache(services);
  const write = services.pool
    .query('UPDATE pats SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)', [
      grant.patId,
      new Date(minute * minuteMs),
    ])
    .then(
      () => undefined,
      error => services.logger.warn({ err: error, pat_id: grant.patId }, 'last_used_at was not written'),
    )
    .finally(() => pendingWrites.delete(write));
  pendingWrites.add(write);
}

/** Waits for the writes of last_used_at that are under way: before the pool is closed. */
export async function settleLastUsed(services: Pick<Services, 'pool'>): Promise<void> {
  await Promise.all(principalCache(services).pendingWrites);
}

/**
 * Who a personal access token speaks for, with the user's present role; null when it is malformed (no query is made),
 * unknown, revoked, expired, or its user was removed. At most one indexed query, none within 2 s of the last one.
 * AppError 403 when `requested` differs from the token's own tenant and project, or its user has no role there any more.
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
      const read = await readGrant(services, Buffer.from(key, 'base64'));
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

type SessionRow = {
  ended: boolean;
  email: string;
  name: string;
  session_epoch: number;
  tenant_id: string | null;
  tenant_admin: boolean | null;
  project_id: string | null;
  role: string | null;
};

// Where the request names no scope: the oldest membership that gives a role, and in it `default` or the oldest project.
const sessionQuery = {
  name: 'resolve_session',
  text: `SELECT EXISTS (SELECT FROM ended_sessions e WHERE e.id = $4) AS ended, u.email, u.name, u.session_epoch, m.tenant_id, m.tenant_admin, p.id AS project_id, pm.role
         FROM users u
         LEFT JOIN memberships m ON m.user_id = u.id AND ($2::text IS NULL OR m.tenant_id = $2)
         LEFT JOIN projects p ON p.tenant_id = m.tenant_id
           AND ($3::text IS NULL OR p.id::text = lower($3) OR lower(p.name) = lower($3))
         LEFT JOIN project_members pm ON pm.project_id = p.id AND pm.user_id = u.id
         WHERE u.id = $1
         ORDER BY (p.id IS NOT NULL AND (m.tenant_admin OR pm.role IS NOT NULL)) DESC, m.created_at, m.tenant_id,
           (p.id::text = lower($3)) DESC, (p.name = $3) DESC, (p.name = 'default') DESC, p.created_at, p.id
         LIMIT 1`,
};

/**
 * Who a session cookie speaks for, read afresh at each request, so that a changed role bites at once. null when the
 * user is gone or the session was ended (itself, or all of the user's: the epoch moved on). AppError 403 for a tenant or project that is unknown or
 * foreign (which of the two is not told), and for a member without a role.
 */
export async function resolveSession(
  services: Pick<Services, 'pool'>,
  session: Session,
  requested: RequestedScope = {},
): Promise<Principal | null> {
  const { rows } = await services.pool.query<SessionRow>({
    ...sessionQuery,
    values: [session.userId, requested.tenantId ?? null, requested.projectId ?? null, session.sessionId ?? null],
  });
  const row = rows[0];
  if (!row || row.ended || row.session_epoch !== session.sessionEpoch) return null;
  const asked = requested.tenantId !== undefined || requested.projectId !== undefined;
  if (row.tenant_id === null || row.project_id === null) {
    throw asked ? foreignScope() : forbidden('You are not a member of any workspace.', 'no_workspace');
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
