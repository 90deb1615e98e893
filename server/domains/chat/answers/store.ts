import type { Pool } from 'pg';
import { amongShards, type Shards } from '../../../orchestrator/shards/slot.ts';
import type { MessagePart } from '../stream/parts.ts';

/** A queued answer with the input of its run. */
export type QueuedAnswer = {
  tenantId: string;
  projectId: string;
  threadId: string;
  workflowId: string;
  runId: string;
  /** The parts of the message. */
  parts: readonly MessagePart[];
  sentBy: string;
  patId: string | null;
};
/** An answer whose run has ended or was purged. */
export type EndedRun = {
  tenantId: string;
  projectId: string;
  threadId: string;
  workflowId: string;
  runId: string;
  status: 'completed' | 'failed' | 'stopped' | null;
  error: { code: string; message: string } | null;
  /** The cost of the run. */
  microcredits: number;
};

const PLACE = `m.tenant_id AS "tenantId", t.project_id AS "projectId", t.id AS "threadId", t.workflow_id AS "workflowId", m.run_id AS "runId"`;

/** One thread, or all (null), of the workspaces in some shards; at most `limit` answers. */
type AnswerSelection = { threadId: string | null; shards: Shards; limit: number };

/** Returns the next queued answer of each thread without an active answer. */
export async function listStartable(pool: Pool, { threadId, shards, limit }: AnswerSelection): Promise<QueuedAnswer[]> {
  const among = amongShards('m.tenant_id', shards, 2);
  const { rows } = await pool.query<QueuedAnswer>(
    `SELECT DISTINCT ON (m.thread_id) ${PLACE}, q.parts, m.sent_by AS "sentBy", m.pat_id AS "patId"
       FROM chat_messages m
       JOIN chat_threads t ON t.id = m.thread_id
       JOIN chat_messages q ON q.thread_id = m.thread_id AND q.id = m.parent_id
      WHERE m.status = 'queued' AND ($1::uuid IS NULL OR m.thread_id = $1)
        AND NOT EXISTS (SELECT FROM chat_messages o JOIN runs r ON r.id = o.run_id
                         WHERE o.thread_id = m.thread_id AND o.status = 'running' AND r.ended_at IS NULL)${among.sql}
      ORDER BY m.thread_id, m.place LIMIT $2`,
    [threadId, limit, ...among.values],
  );
  return rows;
}

/** Returns unsaved answers whose run has ended. */
export async function listEnded(pool: Pool, { threadId, shards, limit }: AnswerSelection): Promise<EndedRun[]> {
  const among = amongShards('m.tenant_id', shards, 2);
  const { rows } = await pool.query<EndedRun>(
    `SELECT ${PLACE}, r.status, r.error, coalesce(r.credits_microcredits, 0)::float8 AS microcredits
       FROM chat_messages m
       JOIN chat_threads t ON t.id = m.thread_id
       LEFT JOIN runs r ON r.id = m.run_id
      WHERE m.status = 'running' AND ($1::uuid IS NULL OR m.thread_id = $1) AND (r.id IS NULL OR r.ended_at IS NOT NULL)${among.sql}
      LIMIT $2`,
    [threadId, limit, ...among.values],
  );
  return rows;
}

/**
 * Erases threads after their retention, and deletes erased threads whose runs have been purged. Until then the row of an erased thread keeps
 * its runs private. Returns how many threads it erased and deleted.
 */
export async function purgeThreads(pool: Pool, now: Date): Promise<number> {
  const deleted = await pool.query(
    `DELETE FROM chat_threads WHERE id = ANY (ARRAY(
       SELECT t.id FROM chat_threads t WHERE t.deleted_at IS NOT NULL
          AND NOT EXISTS (SELECT FROM chat_messages m LEFT JOIN runs r ON r.id = m.run_id
                           WHERE m.thread_id = t.id AND (m.status IN ('queued', 'running') OR r.id IS NOT NULL)) LIMIT 200))`,
  );
  const erased = await pool.query(
    `WITH old AS (
       SELECT t.id FROM chat_threads t JOIN chat_settings s ON s.tenant_id = t.tenant_id
        WHERE t.deleted_at IS NULL AND t.updated_at < $1::timestamptz - make_interval(days => s.retention_days)
          AND NOT EXISTS (SELECT FROM chat_messages m WHERE m.thread_id = t.id AND m.status IN ('queued', 'running')) LIMIT 200),
     messages AS (
       UPDATE chat_messages SET parts = '[]', error = NULL, usage = NULL WHERE thread_id IN (SELECT id FROM old))
     UPDATE chat_threads SET title = '', head_id = NULL, deleted_at = $1 WHERE id IN (SELECT id FROM old)`,
    [now],
  );
  return (erased.rowCount ?? 0) + (deleted.rowCount ?? 0);
}
