import type { Pool } from 'pg';

/**
 * SQL: the conversation that a run, or one that called it, answers, where its contents are closed to a person: a private thread of somebody else, or one that
 * was deleted, to everybody. A row `closed(is_deleted)`, or none where the person may read what the run says (docs/chat.md). Every
 * statement that returns what a run says, and is not preceded by `requireReader`, contains this.
 */
export const closedThread = ({ run, tenant, user }: { run: string; tenant: string; user: string }): string =>
  `SELECT c.deleted_at IS NOT NULL AS is_deleted FROM chat_messages m JOIN chat_threads c ON c.id = m.thread_id AND c.tenant_id = m.tenant_id
    WHERE m.run_id IN (WITH RECURSIVE caller(id) AS (
            SELECT ${run} UNION ALL SELECT k.parent_run_id FROM child_runs k JOIN caller ON k.run_id = caller.id)
          SELECT id FROM caller) AND m.tenant_id = ${tenant}
      AND (c.deleted_at IS NOT NULL OR (c.visibility = 'private' AND c.owner_id <> ${user}))`;

/**
 * SQL: whether those who may answer a task of a closed run see it: what they need to decide was said apart, or the task is of a workflow that
 * an agent called, whose author wrote it for them. `task`: the alias of the task.
 */
export const isDecidable = (task: string): string =>
  `(${task}.to_decide IS NOT NULL OR EXISTS (SELECT FROM workflows kind WHERE kind.id = ${task}.workflow_id AND kind.kind = 'workflow'))`;

const CLOSED = closedThread({ run: 'r.id', tenant: '$2', user: '$3' });

/** Returns those of the runs that are closed to the reader: they answer messages, or were called on the way to an answer. */
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
