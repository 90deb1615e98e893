import type { Pool } from 'pg';
import type { RunScope } from '../runs/store.ts';

/** The user for whom a run acts, and the token that started the run, if any. */
export type ActsFor = { user_id: string; pat_id: string | null };

/** Returns the user for whom a run acts. Null: the run acts for no user, or belongs to another project. */
export async function findActsFor(pool: Pool, { runId, tenantId, projectId }: Omit<RunScope, 'workflowId'>) {
  const { rows } = await pool.query<{ acts_for: ActsFor | null }>({
    name: 'find_acts_for',
    text: `SELECT e.data->'acts_for' AS acts_for FROM runs r JOIN run_events e ON e.run_id = r.id
            WHERE r.id = $1 AND r.tenant_id = $2 AND r.project_id = $3 AND e.seq = 1 AND e.event_type = 'run_started'`,
    values: [runId, tenantId, projectId],
  });
  return rows[0]?.acts_for ?? null;
}

export type RightsRow = {
  email: string;
  tenant_admin: boolean;
  role: string | null;
  /** The scopes of the token. Null: no token was used, or the token was revoked. */
  scopes: string[] | null;
  expires_at: Date | null;
};

/**
 * Returns the current rights of a user and the token in the project; null if the user is no longer a member of the
 * workspace.
 */
export async function findRights(
  pool: Pool,
  { tenantId, projectId }: { tenantId: string; projectId: string },
  { user_id, pat_id }: ActsFor,
): Promise<RightsRow | null> {
  const { rows } = await pool.query<RightsRow>({
    name: 'find_rights',
    text: `SELECT u.email, m.tenant_admin, pm.role, t.scopes, t.expires_at
             FROM users u
             JOIN memberships m ON m.user_id = u.id AND m.tenant_id = $1
             JOIN projects p ON p.id = $2 AND p.tenant_id = $1
             LEFT JOIN project_members pm ON pm.project_id = p.id AND pm.user_id = u.id
             LEFT JOIN pats t ON t.id = $4 AND t.user_id = u.id AND t.tenant_id = $1 AND t.project_id = $2
                             AND t.revoked_at IS NULL
            WHERE u.id = $3`,
    values: [tenantId, projectId, user_id, pat_id],
  });
  return rows[0] ?? null;
}
