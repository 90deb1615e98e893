import type { Pool } from 'pg';
import type { z } from 'zod';
import { projectRoles, type Scope, scopes } from '../../orchestrator/ports/authority.ts';
import { MINUTE_MS } from '../../platform/clock.ts';
import type { PatGrant } from './principal-cache.ts';
import type { Me } from './schemas.ts';
import type { Session } from './sessions.ts';

/** SQL instead of Prisma, because every request needs authentication. */

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
 * SQL: the grants of tokens (`t`), to be continued with ` AND …`. Three primary-key joins. A removed member or a
 * deleted project leaves no row, so the token is void. The reader checks expiry and role.
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

/** Returns the grant of a token, by its hash; null if there is no live one. */
export async function findGrant(pool: Pool, tokenHash: Buffer): Promise<PatGrant | null> {
  const { rows } = await pool.query<PatRow>({ ...patQuery, values: [tokenHash] });
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
    lastUsedMinute: row.last_used_at === null ? null : Math.floor(row.last_used_at.getTime() / MINUTE_MS),
  };
}

/** Writes when a token was last used, unless a later use is recorded. */
export async function saveLastUsed(pool: Pool, patId: string, at: Date): Promise<void> {
  await pool.query('UPDATE pats SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)', [
    patId,
    at,
  ]);
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

// Used if the request names no scope: selects the oldest membership with a role, and in it `default` or the oldest
// project.
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
 * Returns the user of a session, with the membership and project that the request refers to;
 * null if there is no such user.
 */
export async function findSessionPrincipal(
  pool: Pool,
  session: Session,
  requested: { tenantId?: string | undefined; projectId?: string | undefined },
): Promise<SessionRow | null> {
  const { rows } = await pool.query<SessionRow>({
    ...sessionQuery,
    values: [session.userId, requested.tenantId ?? null, requested.projectId ?? null, session.sessionId ?? null],
  });
  return rows[0] ?? null;
}

export type ReachableRow = {
  slug: string;
  name: string;
  tenant_admin: boolean;
  /** A property of the user, so it is the same in every row. */
  confirmed: boolean;
  projects: z.input<typeof Me>['tenants'][0]['projects'];
};

// Prepared, because planning its joins for each call took PostgreSQL longer than running it.
const reachableQuery = {
  name: 'reachable_workspaces',
  text: `SELECT t.slug, t.name, m.tenant_admin, u.confirmed_at IS NOT NULL AS confirmed,
                coalesce(json_agg(json_build_object('id', p.id, 'name', p.name,
                  'role', CASE WHEN m.tenant_admin THEN $2 ELSE pm.role END) ORDER BY p.created_at, p.id)
                  FILTER (WHERE p.id IS NOT NULL), '[]') AS projects
         FROM memberships m
         JOIN users u ON u.id = m.user_id
         JOIN tenants t ON t.slug = m.tenant_id
         LEFT JOIN (projects p LEFT JOIN project_members pm ON pm.project_id = p.id AND pm.user_id = $1)
           ON p.tenant_id = m.tenant_id AND (m.tenant_admin OR pm.role IS NOT NULL)
         WHERE m.user_id = $1
         GROUP BY t.slug, t.name, m.tenant_admin, m.created_at, u.confirmed_at
         ORDER BY m.created_at, t.slug`,
};

/**
 * Returns everything that the user can switch to: tenants by age, and in each the projects on
 * which they have a role, by age.
 */
export async function readReachable(pool: Pool, userId: string): Promise<ReachableRow[]> {
  const { rows } = await pool.query<ReachableRow>({ ...reachableQuery, values: [userId, projectRoles[1]] });
  return rows;
}
