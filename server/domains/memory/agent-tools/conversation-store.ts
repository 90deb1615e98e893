import type { Queryable } from '../../../platform/postgres/transaction.ts';

/** The conversation of a run. */
export type Conversation = {
  /** Whether a person or a program asked the agent directly. Otherwise its prompt can contain text from any source. */
  isAsked: boolean;
  threadId: string | null;
  title: string;
  /** Whether only one person writes in the conversation. */
  isPrivate: boolean;
};

type Row = {
  kind: string;
  trigger_type: string;
  name: string;
  thread_id: string | null;
  title: string | null;
  visibility: string | null;
};

/** The trigger types of runs whose prompt comes from outside or from another run, and not from a person. */
const AUTOMATIC_TRIGGERS: ReadonlySet<string> = new Set(['webhook', 'call_workflow', 'on_failure']);

/** Returns the conversation of a run of this project; null if the run no longer exists. */
export async function findConversation(
  db: Queryable,
  { id, tenantId, projectId }: { id: string; tenantId: string; projectId: string },
): Promise<Conversation | null> {
  const { rows } = await db.query<Row>(
    `SELECT w.kind, u.trigger_type, w.name, m.thread_id, t.title, t.visibility
       FROM runs u JOIN workflows w ON w.id = u.workflow_id AND w.tenant_id = u.tenant_id
       LEFT JOIN chat_messages m ON m.run_id = u.id AND m.tenant_id = u.tenant_id
       LEFT JOIN chat_threads t ON t.id = m.thread_id
      WHERE u.tenant_id = $1 AND u.project_id = $2 AND u.id = $3`,
    [tenantId, projectId, id],
  );
  const row = rows[0];
  if (row === undefined) return null;
  return {
    isAsked: row.kind !== 'workflow' && !AUTOMATIC_TRIGGERS.has(row.trigger_type),
    threadId: row.thread_id,
    title: (row.title ?? row.name).slice(0, 200),
    isPrivate: row.visibility === 'private',
  };
}
