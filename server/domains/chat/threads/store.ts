import type { Pool } from 'pg';
import { containsPattern } from '../../../platform/postgres/prisma.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';

/** Limits threads to those of a project that one person may see. */
export type ThreadScope = { tenantId: string; projectId: string; userId: string };
export type ThreadRow = {
  id: string;
  tenant_id: string;
  project_id: string;
  owner_id: string;
  workflow_id: string;
  kind: 'chat' | 'autopilot';
  agent_id: string | null;
  model: string | null;
  title: string;
  visibility: 'private' | 'project';
  head_id: string | null;
  message_count: number;
  active_run_id: string | null;
  awaits_person: boolean;
  archived_at: Date | null;
  created_at: Date;
  updated_at: Date;
};

/** The fields of a thread that do not depend on its runs. */
export type LockedThread = Omit<ThreadRow, 'active_run_id' | 'awaits_person'>;

/** SQL: the kind of a thread, by the kind of the workflow whose runs answer. */
const KIND = `CASE WHEN (SELECT w.kind FROM workflows w WHERE w.id = t.workflow_id) = 'autopilot' THEN 'autopilot' ELSE 'chat' END`;
const COLUMNS = `t.id, t.tenant_id, t.project_id, t.owner_id, t.workflow_id, t.agent_id, t.model, t.title, t.visibility, t.head_id,
  t.message_count, t.archived_at, t.created_at, t.updated_at, ${KIND} AS kind`;
/** SQL: the run of the oldest answer that has not ended. */
const ACTIVE_RUN = `(SELECT m.run_id FROM chat_messages m LEFT JOIN runs r ON r.id = m.run_id
   WHERE m.thread_id = t.id AND m.status IN ('queued', 'running') AND (m.status = 'queued' OR r.ended_at IS NULL AND r.id IS NOT NULL)
   ORDER BY m.status = 'queued', m.place LIMIT 1) AS active_run_id`;
/** SQL: whether the active answer is blocked until a person approves a call or answers a question. */
const AWAITS_PERSON = `EXISTS (SELECT FROM chat_messages m JOIN runs r ON r.id = m.run_id
   WHERE m.thread_id = t.id AND m.status = 'running' AND r.ended_at IS NULL AND r.orchestration_phase = 'blocked'
     AND r.pending_tasks > 0) AS awaits_person`;
const VISIBLE = `t.tenant_id = $1 AND t.project_id = $2 AND (t.owner_id = $3 OR t.visibility = 'project') AND t.deleted_at IS NULL`;

export type NewThread = Pick<ThreadRow, 'id' | 'workflow_id' | 'agent_id' | 'model' | 'title' | 'visibility'> & {
  at: Date;
};

/** Inserts an empty thread. */
export async function insertThread(
  db: Queryable,
  scope: ThreadScope,
  thread: NewThread,
  otherwise: '' | 'ON CONFLICT (id) DO NOTHING' = '',
): Promise<void> {
  const { id, workflow_id, agent_id, model, title, visibility, at } = thread;
  await db.query(
    `INSERT INTO chat_threads (id, tenant_id, project_id, owner_id, workflow_id, agent_id, model, title, visibility, message_count,
       created_at, updated_at)
     VALUES ($4, $1, $2, $3, $5, $6, $7, $8, $9, 0, $10, $10) ${otherwise}`,
    [scope.tenantId, scope.projectId, scope.userId, id, workflow_id, agent_id, model, title, visibility, at],
  );
}

/** Returns the thread; null if it does not exist or the person may not see it. */
export async function findThread(db: Queryable, scope: ThreadScope, id: string): Promise<ThreadRow | null> {
  const { rows } = await db.query<ThreadRow>({
    name: 'chat_find_thread',
    text: `SELECT ${COLUMNS}, ${ACTIVE_RUN}, ${AWAITS_PERSON} FROM chat_threads t WHERE ${VISIBLE} AND t.id = $4`,
    values: [scope.tenantId, scope.projectId, scope.userId, id],
  });
  return rows[0] ?? null;
}

/** Locks the thread until the transaction ends. Returns null if it does not exist or the person may not see it. */
export async function lockThread(db: Queryable, scope: ThreadScope, id: string): Promise<LockedThread | null> {
  const { rows } = await db.query<LockedThread>({
    name: 'chat_lock_thread',
    text: `SELECT ${COLUMNS} FROM chat_threads t WHERE ${VISIBLE} AND t.id = $4 FOR UPDATE`,
    values: [scope.tenantId, scope.projectId, scope.userId, id],
  });
  return rows[0] ?? null;
}

/** Inserts an empty thread, unless it exists already. */
export async function ensureThread(db: Queryable, scope: ThreadScope, thread: NewThread): Promise<void> {
  await insertThread(db, scope, thread, 'ON CONFLICT (id) DO NOTHING');
}

export type ThreadFilter = {
  q: string | undefined;
  agentId: string | undefined;
  kind: ThreadRow['kind'] | undefined;
  /** Whether only the person's own threads are listed. */
  own?: boolean;
  archived: boolean;
  after: { at: Date; id: string } | null;
  limit: number;
};

/** Returns the threads that the person may see, last changed first. */
export async function listThreadRows(pool: Pool, scope: ThreadScope, filter: ThreadFilter): Promise<ThreadRow[]> {
  const { rows } = await pool.query<ThreadRow>(
    `SELECT ${COLUMNS}, ${ACTIVE_RUN}, ${AWAITS_PERSON} FROM chat_threads t
      WHERE ${VISIBLE} AND (t.archived_at IS NOT NULL) = $4 AND ($5::uuid IS NULL OR t.agent_id = $5)
        AND ($6::text IS NULL OR t.title ILIKE $6)
        AND ($7::timestamptz IS NULL OR (t.updated_at, t.id) < ($7, $8::uuid))
        AND ($10::text IS NULL OR ${KIND} = $10) AND (NOT $11::boolean OR t.owner_id = $3)
      ORDER BY t.updated_at DESC, t.id DESC LIMIT $9`,
    [
      scope.tenantId,
      scope.projectId,
      scope.userId,
      filter.archived,
      filter.agentId ?? null,
      containsPattern(filter.q),
      filter.after?.at ?? null,
      filter.after?.id ?? null,
      filter.limit,
      filter.kind ?? null,
      filter.own ?? false,
    ],
  );
  return rows;
}

export type ThreadChanges = {
  title?: string | undefined;
  visibility?: ThreadRow['visibility'] | undefined;
  head_id?: string | undefined;
  archived?: boolean | undefined;
};

/** Changes the given fields. */
export async function updateThread(
  db: Queryable,
  { tenantId, id }: { tenantId: string; id: string },
  { title, visibility, head_id, archived }: ThreadChanges,
  at: Date,
): Promise<void> {
  await db.query(
    `UPDATE chat_threads SET title = coalesce($3, title), visibility = coalesce($4, visibility), head_id = coalesce($5, head_id),
            archived_at = CASE WHEN $6::boolean IS NULL THEN archived_at WHEN $6 THEN coalesce(archived_at, $7) END
      WHERE id = $1 AND tenant_id = $2`,
    [id, tenantId, title ?? null, visibility ?? null, head_id ?? null, archived ?? null, at],
  );
}

/** Erases the messages of a thread. Its row and the usage of its answers stay until `purgeThreads`. */
export async function eraseThread(
  db: Queryable,
  { tenantId, id }: { tenantId: string; id: string },
  at: Date,
): Promise<void> {
  await db.query(
    `WITH erased AS (
       UPDATE chat_messages SET parts = '[]', error = NULL, status = CASE WHEN status = 'queued' THEN 'withdrawn' ELSE status END
        WHERE thread_id = $1 AND tenant_id = $2)
     UPDATE chat_threads SET title = '', head_id = NULL, deleted_at = $3 WHERE id = $1 AND tenant_id = $2`,
    [id, tenantId, at],
  );
}

/** Returns whether the thread has an answer with this id. */
export async function hasAnswer(
  db: Queryable,
  { tenantId, threadId }: { tenantId: string; threadId: string },
  messageId: string,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `SELECT FROM chat_messages WHERE thread_id = $1 AND tenant_id = $2 AND id = $3 AND role = 'assistant'`,
    [threadId, tenantId, messageId],
  );
  return rowCount === 1;
}

/**
 * Copies the branch that ends with a message into an empty thread. Returns the number of messages, or null if one of them has not ended.
 * Copies have no cost.
 */
export async function copyBranch(
  db: Queryable,
  { tenantId, from, to, upTo }: { tenantId: string; from: string; to: string; upTo: string },
): Promise<number | null> {
  const { rows } = await db.query<{ copied: number; open: number }>(
    `WITH RECURSIVE branch AS (
       SELECT m.* FROM chat_messages m WHERE m.thread_id = $2 AND m.tenant_id = $1 AND m.id = $4
       UNION ALL
       SELECT m.* FROM chat_messages m JOIN branch b ON m.thread_id = $2 AND m.tenant_id = $1 AND m.id = b.parent_id),
     copies AS (
       INSERT INTO chat_messages (thread_id, id, tenant_id, place, parent_id, role, status, parts, error, usage, sent_by, created_at)
       SELECT $3, id, tenant_id, row_number() OVER (ORDER BY place), parent_id, role, status, parts, error,
              jsonb_set(usage::jsonb, '{credits_microcredits}', '0')::json, sent_by, created_at FROM branch
       RETURNING status)
     SELECT count(*)::int AS copied, count(*) FILTER (WHERE status IN ('queued', 'running'))::int AS open FROM copies`,
    [tenantId, from, to, upTo],
  );
  const { copied = 0, open = 0 } = rows[0] ?? {};
  if (open > 0) return null;
  await db.query('UPDATE chat_threads SET head_id = $3, message_count = $4 WHERE id = $1 AND tenant_id = $2', [
    to,
    tenantId,
    upTo,
    copied,
  ]);
  return copied;
}
