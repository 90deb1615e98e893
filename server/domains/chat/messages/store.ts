import type { Pool } from 'pg';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import type { AnswerUsage } from '../answers/usage.ts';
import type { MessagePart } from '../stream/parts.ts';

export type AnswerState = 'queued' | 'running' | 'completed' | 'failed' | 'stopped' | 'refused' | 'withdrawn';
export type AnswerError = { code: string; message: string };
export type MessageRow = {
  id: string;
  parent_id: string | null;
  role: 'user' | 'assistant';
  status: AnswerState | 'sent';
  parts: MessagePart[];
  run_id: string | null;
  error: AnswerError | null;
  usage: AnswerUsage | null;
  sent_by: string;
  place: number;
  created_at: Date;
};
type Thread = { tenantId: string; threadId: string };

const COLUMNS = `m.id, m.parent_id, m.role, m.status, m.parts, m.run_id, m.error, m.usage, m.place, m.created_at,
  coalesce(u.email, m.sent_by::text) AS sent_by`;

/** Returns a page of the thread's messages in all branches. */
export async function listMessageRows(
  pool: Pool,
  { tenantId, threadId }: Thread,
  { after, limit, order }: { after: number | null; limit: number; order: 'asc' | 'desc' },
): Promise<MessageRow[]> {
  const [compare, direction] = order === 'asc' ? ['>', 'ASC'] : ['<', 'DESC'];
  const { rows } = await pool.query<MessageRow>(
    `SELECT ${COLUMNS} FROM chat_messages m LEFT JOIN users u ON u.id = m.sent_by
      WHERE m.thread_id = $1 AND m.tenant_id = $2 AND ($3::int IS NULL OR m.place ${compare} $3)
      ORDER BY m.place ${direction} LIMIT $4`,
    [threadId, tenantId, after, limit],
  );
  return rows;
}

export type FoundMessage = Pick<MessageRow, 'id' | 'role' | 'parent_id' | 'parts'>;

/** Returns the given messages of the thread, by id. Unknown ids are left out. */
export async function findMessages(
  db: Queryable,
  { tenantId, threadId }: Thread,
  ids: readonly string[],
): Promise<Map<string, FoundMessage>> {
  const { rows } = await db.query<FoundMessage>({
    name: 'chat_find_messages',
    text: `SELECT id, role, parent_id, parts FROM chat_messages WHERE thread_id = $1 AND tenant_id = $2 AND id = ANY($3)`,
    values: [threadId, tenantId, ids],
  });
  return new Map(rows.map(row => [row.id, row]));
}

/** Returns a message of the thread; null if the thread has no message with this id. */
export async function findMessage(db: Queryable, thread: Thread, id: string): Promise<FoundMessage | null> {
  return (await findMessages(db, thread, [id])).get(id) ?? null;
}

export type RequestedAnswer = { parent_id: string; run_id: string; status: AnswerState; request_hash: Buffer };

/** Returns the answer of an earlier request with this id; null for none. */
export async function findRequested(
  db: Queryable,
  { tenantId, threadId }: Thread,
  requestId: string,
): Promise<RequestedAnswer | null> {
  const { rows } = await db.query<RequestedAnswer>({
    name: 'chat_find_requested',
    text: `SELECT parent_id, id AS run_id, status, request_hash FROM chat_messages
            WHERE thread_id = $1 AND tenant_id = $2 AND request_id = $3`,
    values: [threadId, tenantId, requestId],
  });
  return rows[0] ?? null;
}

/** Returns whether the thread has an active or queued answer. `runId`: counts only answers before this one. */
export async function isBusy(
  db: Queryable,
  { tenantId, threadId }: Thread,
  runId: string | null = null,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'chat_is_busy',
    text: `SELECT FROM chat_messages m LEFT JOIN runs r ON r.id = m.run_id
            WHERE m.thread_id = $1 AND m.tenant_id = $2 AND m.status IN ('queued', 'running')
              AND (m.status = 'queued' OR r.id IS NOT NULL AND r.ended_at IS NULL)
              AND ($3::text IS NULL OR m.place < (SELECT o.place FROM chat_messages o WHERE o.thread_id = $1 AND o.id = $3))
            LIMIT 1`,
    values: [threadId, tenantId, runId],
  });
  return rowCount !== 0;
}

export type NewAnswer = {
  runId: string;
  requestId: string;
  requestHash: Buffer;
  sentBy: string;
  patId: string | null;
  at: Date;
} & (
  | { message: { id: string; parentId: string | null; parts: readonly MessagePart[] }; parentId?: never }
  | { message: null /** The message that is answered again. */; parentId: string }
);

/**
 * Inserts a message with its queued answer, or only another answer to a message. `title` replaces an empty title. The thread must be locked.
 */
export async function insertAnswer(
  db: Queryable,
  { tenantId, threadId, title }: Thread & { title: string },
  answer: NewAnswer,
): Promise<void> {
  const { message, runId, requestId, requestHash, sentBy, patId, at } = answer;
  const parts = message === null ? null : JSON.stringify(message.parts);
  await db.query({
    name: 'chat_insert_answer',
    text: `WITH thread AS (
       UPDATE chat_threads SET head_id = $3::text, message_count = message_count + CASE WHEN $4::text IS NULL THEN 1 ELSE 2 END,
              title = CASE WHEN title = '' THEN $13 ELSE title END, updated_at = greatest(updated_at, $12)
        WHERE id = $1 AND tenant_id = $2 RETURNING message_count),
     question AS (
       INSERT INTO chat_messages (thread_id, id, tenant_id, place, parent_id, role, status, parts, sent_by, created_at)
       SELECT $1, $4, $2, message_count - 1, $5, 'user', 'sent', $6::json, $10::uuid, $12 FROM thread WHERE $4 IS NOT NULL)
     INSERT INTO chat_messages (thread_id, id, tenant_id, place, parent_id, role, status, parts, run_id, request_id, request_hash,
       sent_by, pat_id, created_at)
     SELECT $1, $3, $2, message_count, $7, 'assistant', 'queued', '[]', $3::uuid, $8, $9, $10::uuid, $11::uuid, $12 FROM thread`,
    values: [
      threadId,
      tenantId,
      runId,
      message?.id ?? null,
      message?.parentId ?? null,
      parts,
      message?.id ?? answer.parentId,
      requestId,
      requestHash,
      sentBy,
      patId,
      at,
      title,
    ],
  });
}

/**
 * Deletes an answer that was not started, with its message. If other messages follow, marks the answer as refused instead. The thread must
 * be locked.
 */
export async function removeRefused(
  db: Queryable,
  { tenantId, threadId }: Thread,
  { runId, messageId, error }: { runId: string; messageId: string | null; error: AnswerError },
): Promise<void> {
  const { rowCount } = await db.query(
    'SELECT FROM chat_messages WHERE thread_id = $1 AND tenant_id = $2 AND parent_id = $3 LIMIT 1',
    [threadId, tenantId, runId],
  );
  if (rowCount !== 0) return markRefused(db, { tenantId, threadId, runId, error });
  await db.query(
    `WITH gone AS (
       DELETE FROM chat_messages WHERE thread_id = $1 AND tenant_id = $2 AND id IN ($3::text, $4::text)
       RETURNING id, parent_id)
     UPDATE chat_threads SET head_id = (SELECT parent_id FROM gone WHERE id = coalesce($4::text, $3::text))
      WHERE id = $1 AND tenant_id = $2 AND head_id = $3::text`,
    [threadId, tenantId, runId, messageId],
  );
}

/** Marks a queued answer as refused. */
export async function markRefused(
  db: Queryable,
  { tenantId, threadId, runId, error }: Thread & { runId: string; error: AnswerError },
): Promise<void> {
  await db.query(
    `UPDATE chat_messages SET status = 'refused', error = $4
      WHERE thread_id = $1 AND tenant_id = $2 AND id = $3::text AND status = 'queued'`,
    [threadId, tenantId, runId, JSON.stringify(error)],
  );
}

/** Marks an answer as running. Returns false if the answer was withdrawn before. */
export async function markRunning(
  db: Queryable,
  { tenantId, threadId, runId }: Thread & { runId: string },
): Promise<boolean> {
  const { rows } = await db.query<{ status: AnswerState }>({
    name: 'chat_mark_running',
    text: `UPDATE chat_messages SET status = CASE WHEN status = 'queued' THEN 'running' ELSE status END
            WHERE thread_id = $1 AND tenant_id = $2 AND id = $3::text RETURNING status`,
    values: [threadId, tenantId, runId],
  });
  return rows[0]?.status !== 'withdrawn';
}

/** Withdraws the queued answers. Returns the ids of their runs. */
export async function withdrawQueued(db: Queryable, { tenantId, threadId }: Thread): Promise<string[]> {
  const { rows } = await db.query<{ run_id: string }>(
    `UPDATE chat_messages SET status = 'withdrawn' WHERE thread_id = $1 AND tenant_id = $2 AND status = 'queued' RETURNING run_id`,
    [threadId, tenantId],
  );
  return rows.map(({ run_id }) => run_id);
}

export type EndedAnswer = {
  status: 'completed' | 'failed' | 'stopped';
  parts: readonly MessagePart[];
  usage: AnswerUsage | null;
  error: AnswerError | null;
};

/** Saves an answer whose run has ended. The text is left out if the thread was deleted. */
export async function saveAnswer(
  db: Queryable,
  { tenantId, threadId, runId }: Thread & { runId: string },
  { status, parts, usage, error }: EndedAnswer,
): Promise<void> {
  await db.query(
    `UPDATE chat_messages m SET status = $4, error = CASE WHEN t.deleted_at IS NULL THEN $6::json END,
            parts = CASE WHEN t.deleted_at IS NULL THEN $5::json ELSE '[]'::json END, usage = $7::json
       FROM chat_threads t
      WHERE t.id = m.thread_id AND m.thread_id = $1 AND m.tenant_id = $2 AND m.id = $3::text AND m.status = 'running'`,
    [
      threadId,
      tenantId,
      runId,
      status,
      JSON.stringify(parts),
      error && JSON.stringify(error),
      usage && JSON.stringify(usage),
    ],
  );
}

/** Returns the thread and the messages before the one that the run answers, oldest first; null for a run that answers no message. */
export async function findHistory(
  pool: Pool,
  { tenantId, runId }: { tenantId: string; runId: string },
): Promise<{ threadId: string; messages: Pick<MessageRow, 'id' | 'role' | 'status' | 'parts' | 'run_id'>[] } | null> {
  const { rows } = await pool.query<{ thread_id: string; messages: MessageRow[] }>({
    name: 'chat_find_history',
    text: `WITH RECURSIVE answer AS (
         SELECT thread_id, parent_id FROM chat_messages WHERE run_id = $2 AND tenant_id = $1),
       branch AS (
         SELECT q.thread_id, q.id, q.parent_id, q.role, q.status, q.parts, q.run_id, 0 AS depth
           FROM answer a JOIN chat_messages q ON q.thread_id = a.thread_id AND q.id = a.parent_id
         UNION ALL
         SELECT m.thread_id, m.id, m.parent_id, m.role, m.status, m.parts, m.run_id, b.depth + 1
           FROM branch b JOIN chat_messages m ON m.thread_id = b.thread_id AND m.id = b.parent_id)
       SELECT a.thread_id, coalesce((SELECT json_agg(json_build_object('id', id, 'role', role, 'status', status, 'parts', parts,
                'run_id', run_id) ORDER BY depth DESC) FROM branch WHERE depth > 0), '[]') AS messages
         FROM answer a`,
    values: [tenantId, runId],
  });
  const [row] = rows;
  return row === undefined ? null : { threadId: row.thread_id, messages: row.messages };
}

/** Returns the message that the run answers; null for a run that answers no message. */
export async function findAnswered(
  pool: Pool,
  { tenantId, runId }: { tenantId: string; runId: string },
): Promise<Pick<MessageRow, 'id' | 'parts'> | null> {
  const { rows } = await pool.query<Pick<MessageRow, 'id' | 'parts'>>(
    `SELECT q.id, q.parts FROM chat_messages a JOIN chat_messages q ON q.thread_id = a.thread_id AND q.id = a.parent_id
      WHERE a.run_id = $2 AND a.tenant_id = $1`,
    [tenantId, runId],
  );
  return rows[0] ?? null;
}

/** Returns the thread in which the run answers; null for a run that answers no message. */
export async function findThreadOfRun(
  db: Queryable,
  { tenantId, runId }: { tenantId: string; runId: string },
): Promise<string | null> {
  const { rows } = await db.query<{ thread_id: string }>(
    'SELECT thread_id FROM chat_messages WHERE run_id = $2 AND tenant_id = $1',
    [tenantId, runId],
  );
  return rows[0]?.thread_id ?? null;
}

/** Returns whether an answer has events after `after`, or will have. Returns false for a run that is no answer of the thread. */
export async function hasMore(
  db: Queryable,
  { tenantId, threadId }: Thread,
  { runId, after }: { runId: string; after: number },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `SELECT FROM chat_messages m LEFT JOIN runs r ON r.id = m.run_id
      WHERE m.thread_id = $1 AND m.tenant_id = $2 AND m.id = $3 AND m.run_id IS NOT NULL
        AND (m.status = 'queued' OR r.id IS NOT NULL AND (r.ended_at IS NULL OR r.last_seq > $4))`,
    [threadId, tenantId, runId, after],
  );
  return rowCount === 1;
}
