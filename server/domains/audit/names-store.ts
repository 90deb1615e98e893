import type { Pool } from 'pg';
import { isId } from '../../platform/ids.ts';

/** The reader of the log, an administrator of the workspace, with what the reader's credential may read. */
export type NameReader = {
  tenantId: string;
  /** The project of the credential, to which chats, memories and views are bound. */
  projectId: string;
  userId: string;
  may: { read: boolean; chat: boolean; memory: boolean };
};

/** The maximum number of characters of a memory that are shown as its name. */
const MEMORY_NAME_LENGTH = 60;

const MANAGED = `
     SELECT id, name FROM workflows WHERE tenant_id = $1 AND id = ANY($2::uuid[])
     UNION ALL SELECT id, name FROM projects WHERE tenant_id = $1 AND id = ANY($2::uuid[])
     UNION ALL SELECT id, name FROM connections WHERE tenant_id = $1 AND id = ANY($2::uuid[])
     UNION ALL SELECT id, name FROM mcp_servers WHERE tenant_id = $1 AND id = ANY($2::uuid[])
     UNION ALL SELECT id, name FROM mcp_instances WHERE tenant_id = $1 AND id = ANY($2::uuid[])
     UNION ALL SELECT id, name FROM webhook_subscriptions WHERE tenant_id = $1 AND id = ANY($2::uuid[])
     UNION ALL SELECT id, display_name FROM pats WHERE tenant_id = $1 AND id = ANY($2::uuid[])
     UNION ALL SELECT u.id, u.name FROM users u JOIN memberships m ON m.user_id = u.id
                WHERE m.tenant_id = $1 AND u.id = ANY($2::uuid[])`;

/** Names a run by its workflow and the minute of its start. */
const RUNS = `
     UNION ALL SELECT r.id, w.name || ', ' || to_char(r.started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') || ' UTC'
       FROM runs r JOIN workflows w ON w.id = r.workflow_id
      WHERE r.tenant_id = $1 AND r.id = ANY($2::uuid[]) AND $5
     UNION ALL SELECT id, name FROM run_views
      WHERE tenant_id = $1 AND project_id = $3 AND (owner_id = $4 OR shared) AND id = ANY($2::uuid[]) AND $5`;

/** Names proposals, chats and memories only for readers whose lists contain them. */
const OWN = `
     UNION ALL SELECT id, title FROM autopilot_proposals
      WHERE tenant_id = $1 AND project_id = $3 AND id = ANY($2::uuid[]) AND $5 AND $6
     UNION ALL SELECT id, title FROM chat_threads
      WHERE tenant_id = $1 AND project_id = $3 AND (owner_id = $4 OR visibility = 'project') AND deleted_at IS NULL
        AND title <> '' AND id = ANY($2::uuid[]) AND $6
     UNION ALL SELECT id, CASE WHEN length(text) > ${MEMORY_NAME_LENGTH} THEN left(text, ${MEMORY_NAME_LENGTH - 1}) || '…' ELSE text END
       FROM memory_items
      WHERE tenant_id = $1 AND (project_id IS NULL OR project_id = $3) AND (user_id IS NULL OR user_id = $4)
        AND id = ANY($2::uuid[]) AND $7
     UNION ALL SELECT id, title FROM memory_episodes
      WHERE tenant_id = $1 AND (project_id IS NULL OR project_id = $3) AND (user_id IS NULL OR user_id = $4)
        AND title <> '' AND id = ANY($2::uuid[]) AND $7`;

/**
 * Returns the present names of things, by id: of everything that an administrator of the workspace manages, and of
 * those runs, views, proposals, chats and memories that the reader may read. Things that no longer exist, that the reader may not
 * read, or that belong to another workspace have no name here.
 */
export async function readNames(
  pool: Pool,
  { tenantId, projectId, userId, may }: NameReader,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(ids)].filter(isId);
  if (wanted.length === 0) return new Map();
  const { rows } = await pool.query<{ id: string; name: string }>(`${MANAGED}${RUNS}${OWN}`, [
    ...[tenantId, wanted, projectId, userId],
    ...[may.read, may.chat, may.memory],
  ]);
  return new Map(rows.map(({ id, name }) => [id, name]));
}
