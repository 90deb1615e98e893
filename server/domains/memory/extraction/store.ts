import type { Pool } from 'pg';
import { isId } from '../../../platform/ids.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import type { MemoryScope } from '../scope.ts';

export type ExtractionCounts = { proposed: number; merged: number; superseded: number; dropped: number };
/** The key of a job: its run. */
export type JobRef = { tenantId: string; projectId: string; runId: string };
/** A part of a job: the chunks of an episode from this position on. */
export type Part = { episodeId: string; from: number };
export type PartRow = ExtractionCounts & { episode_id: string; from_position: number; state: string };

/** Returns the workflow of a project's extractions with this graph; null before the first extraction. */
export async function findExtractionWorkflow(
  db: Queryable,
  { tenantId, projectId }: Omit<JobRef, 'runId'>,
  checksum: string,
): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT id FROM workflows WHERE tenant_id = $1 AND project_id = $2 AND kind = 'extraction' AND graph_checksum = $3
       AND status <> 'archived' ORDER BY created_at LIMIT 1`,
    [tenantId, projectId, checksum],
  );
  return rows[0]?.id ?? null;
}

/** Serializes the creation of a project's workflow until the transaction ends. */
export async function lockExtractionWorkflow(db: Queryable, tenantId: string, projectId: string): Promise<void> {
  await db.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`extraction of ${tenantId} ${projectId}`]);
}

/** Inserts the parts of a job before its run starts. */
export async function insertParts(
  pool: Pool,
  { tenantId, projectId, runId }: JobRef,
  { workflowId, parts, at }: { workflowId: string; parts: readonly Part[]; at: Date },
): Promise<void> {
  await pool.query(
    `INSERT INTO memory_extractions (tenant_id, run_id, part, project_id, workflow_id, episode_id, from_position, created_at)
     SELECT $1, $2, p.part - 1, $3, $4, p.episode_id, p.from_position, $7
     FROM unnest($5::uuid[], $6::int[]) WITH ORDINALITY p(episode_id, from_position, part)`,
    [tenantId, runId, projectId, workflowId, parts.map(part => part.episodeId), parts.map(part => part.from), at],
  );
}

/** Deletes the parts of a job whose run was refused. */
export async function deleteParts(pool: Pool, { tenantId, projectId, runId }: JobRef): Promise<void> {
  await pool.query('DELETE FROM memory_extractions WHERE tenant_id = $1 AND project_id = $2 AND run_id = $3', [
    tenantId,
    projectId,
    runId,
  ]);
}

/** Returns a part of a job; null if the job has no part with this number. `lock`: locks it until the transaction ends. */
export async function findPart(
  db: Queryable,
  { tenantId, projectId, runId }: JobRef,
  part: number,
  { lock = false }: { lock?: boolean } = {},
): Promise<PartRow | null> {
  const { rows } = await db.query<PartRow>(
    `SELECT episode_id, from_position, state, proposed, merged, superseded, dropped FROM memory_extractions
     WHERE tenant_id = $1 AND project_id = $2 AND run_id = $3 AND part = $4 ${lock ? 'FOR UPDATE' : ''}`,
    [tenantId, projectId, runId, part],
  );
  return rows[0] ?? null;
}

/** Marks a part as done and stores its counts. */
export async function finishPart(
  db: Queryable,
  { tenantId, runId }: JobRef,
  part: number,
  { proposed, merged, superseded, dropped }: ExtractionCounts,
): Promise<void> {
  await db.query(
    `UPDATE memory_extractions SET state = 'done', proposed = $4, merged = $5, superseded = $6, dropped = $7,
       error_code = NULL, error_message = NULL WHERE tenant_id = $1 AND run_id = $2 AND part = $3`,
    [tenantId, runId, part, proposed, merged, superseded, dropped],
  );
}

/** Stores the error of the latest attempt of a part, unless the part is done. */
export async function failPart(
  db: Queryable,
  { tenantId, runId }: JobRef,
  part: number,
  { code, message }: { code: string; message: string },
): Promise<void> {
  await db.query(
    `UPDATE memory_extractions SET state = 'failed', error_code = $4, error_message = $5
     WHERE tenant_id = $1 AND run_id = $2 AND part = $3 AND state <> 'done'`,
    [tenantId, runId, part, code, message.slice(0, 500)],
  );
}

export type JobRow = ExtractionCounts & {
  workflow_id: string;
  total: number;
  done: number;
  failed: number;
  errors: { code: string; message: string }[];
};

/** Returns the totals of a job with the errors of the first failed parts; null if the project has no job with this id. */
export async function findJob(
  db: Queryable,
  { tenantId, projectId, runId }: JobRef,
  shown: number,
): Promise<JobRow | null> {
  const { rows } = await db.query<JobRow>(
    `SELECT min(workflow_id::text) AS workflow_id, count(*)::int AS total,
       count(*) FILTER (WHERE state = 'done')::int AS done, count(*) FILTER (WHERE state = 'failed')::int AS failed,
       sum(proposed)::int AS proposed, sum(merged)::int AS merged, sum(superseded)::int AS superseded,
       sum(dropped)::int AS dropped,
       coalesce((SELECT json_agg(json_build_object('code', f.error_code, 'message', f.error_message) ORDER BY f.part)
         FROM (SELECT part, error_code, error_message FROM memory_extractions
           WHERE tenant_id = $1 AND run_id = $3 AND state = 'failed' ORDER BY part LIMIT $4) f), '[]') AS errors
     FROM memory_extractions WHERE tenant_id = $1 AND project_id = $2 AND run_id = $3 HAVING count(*) > 0`,
    [tenantId, projectId, runId, shown],
  );
  return rows[0] ?? null;
}

/** Deletes parts of jobs from before `cutoff` in all workspaces. Returns how many were deleted. */
export async function deleteExtractions(db: Queryable, cutoff: Date): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM memory_extractions WHERE ctid = ANY (ARRAY(SELECT ctid FROM memory_extractions WHERE created_at < $1 LIMIT 5000))`,
    [cutoff],
  );
  return rowCount ?? 0;
}

/** Returns whether another person writes in the chat thread. Conversations from other sources have one writer. */
export async function hasOtherWriters(
  db: Queryable,
  { tenantId, userId }: Pick<MemoryScope, 'tenantId' | 'userId'>,
  threadId: string,
): Promise<boolean> {
  if (!isId(threadId)) return false;
  const { rowCount } = await db.query(
    `SELECT FROM chat_messages WHERE tenant_id = $1 AND thread_id = $2 AND role = 'user' AND sent_by IS DISTINCT FROM $3::uuid LIMIT 1`,
    [tenantId, threadId, userId],
  );
  return rowCount !== 0;
}
