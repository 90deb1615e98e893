import type { Pool } from 'pg';

/**
 * SQL: selects a row `closed(is_deleted)` if a person may not read the contents of a run, and no row otherwise
 * (docs/chat.md). The contents are closed if the run, or one that called it, answers a message of somebody else's
 * private thread or of a deleted thread. Every statement that returns the contents of runs contains this condition,
 * unless `requireReader` was called before it.
 */
export const closedThread = ({ run, tenant, user }: { run: string; tenant: string; user: string }): string =>
  `SELECT c.deleted_at IS NOT NULL AS is_deleted FROM chat_messages m JOIN chat_threads c ON c.id = m.thread_id AND c.tenant_id = m.tenant_id
    WHERE m.run_id IN (WITH RECURSIVE caller(id) AS (
            SELECT ${run} UNION ALL SELECT k.parent_run_id FROM child_runs k JOIN caller ON k.run_id = caller.id)
          SELECT id FROM caller) AND m.tenant_id = ${tenant}
      AND (c.deleted_at IS NOT NULL OR (c.visibility = 'private' AND c.owner_id <> ${user}))`;

/**
 * SQL: whether the people who may answer a task of a closed run see the task: either its `to_decide` holds what they
 * need to know, or an agent called the workflow of the task, whose author wrote the task for them. `task`: the alias of
 * the task.
 */
export const isDecidable = (task: string): string =>
  `(${task}.to_decide IS NOT NULL OR EXISTS (SELECT FROM workflows kind WHERE kind.id = ${task}.workflow_id AND kind.kind = 'workflow'))`;

const CLOSED = closedThread({ run: 'r.id', tenant: '$2', user: '$3' });

/** Returns the runs that are closed to the reader: they answer a message, or a run that answers one called them. */
export async function listUnreadable(
  pool: Pool,
  { tenantId, userId }: { tenantId: string; userId: string },
  runIds: readonly string[],
): Promise<string[]> {
  const { rows } = await pool.query<{ run_id: string }>({
    name: 'list_unreadable_runs',
    text: `SELECT r.id AS run_id FROM unnest($1::uuid[]) r(id) WHERE EXISTS (${CLOSED})`,
    values: [runIds, tenantId, userId],
  });
  return rows.map(({ run_id }) => run_id);
}
