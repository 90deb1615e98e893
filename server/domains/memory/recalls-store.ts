import { newId } from '../../platform/ids.ts';
import type { Queryable } from '../../platform/postgres/transaction.ts';
import { type MemoryScope, parameters, visibleTo } from './scope.ts';

/** The run and the step that recalled memories. */
export type RecalledBy = { runId: string; stepId: string };

/** Records which memories a tool or an agent received, and counts a use of the items. The latest records may be lost in a crash of the database. */
export async function insertRecall(
  db: Queryable,
  scope: MemoryScope,
  targetIds: readonly string[],
  at: Date,
  by: RecalledBy | null = null,
): Promise<void> {
  const to = parameters();
  const targets = to.add(targetIds);
  const now = to.add(at);
  await db.query(
    `WITH relaxed AS (SELECT set_config('synchronous_commit', 'off', true) AS done),
       used AS (UPDATE memory_items i SET uses = uses + 1, last_used_at = ${now}
         FROM relaxed WHERE relaxed.done IS NOT NULL AND ${visibleTo('i', scope, to)} AND i.id = ANY(${targets}::uuid[]))
     INSERT INTO memory_recalls (tenant_id, id, project_id, user_id, run_id, step_id, target_ids, recalled_at)
     VALUES (${to.add(scope.tenantId)}, ${to.add(newId())}, ${to.add(scope.projectId)}, ${to.add(scope.userId)}, ${to.add(by?.runId ?? null)}::uuid,
       ${to.add(by?.stepId ?? null)}, ${targets}::uuid[], ${now})`,
    to.values,
  );
}

/** The maximum number of recalls that are read: the newest before the episode was indexed. */
const MAX_RECALLS = 200;

/**
 * Returns the texts that were recalled for this person before the episode was indexed, apart from those of the episode
 * itself. For the episode of a run, also returns the texts that the run received, even if this person may not see them,
 * because a run that repeats them states nothing new.
 */
export async function readRecalled(
  db: Queryable,
  scope: MemoryScope,
  episode: { id: string; created_at: Date; runId: string | null },
): Promise<string[]> {
  const to = parameters();
  const tenant = to.add(scope.tenantId);
  const run = `${to.add(episode.runId)}::uuid`;
  const { rows } = await db.query<{ text: string }>(
    `WITH recalled AS MATERIALIZED (SELECT DISTINCT unnest(r.target_ids) AS id FROM (
       SELECT target_ids FROM memory_recalls WHERE tenant_id = ${tenant} AND user_id = ${to.add(scope.userId)}
         AND recalled_at <= ${to.add(episode.created_at)} ORDER BY recalled_at DESC LIMIT ${MAX_RECALLS}) r),
     given AS MATERIALIZED (SELECT DISTINCT unnest(r.target_ids) AS id FROM (
       SELECT target_ids FROM memory_recalls WHERE tenant_id = ${tenant} AND project_id = ${to.add(scope.projectId)}
         AND run_id = ${run} LIMIT ${MAX_RECALLS}) r)
     SELECT i.text FROM memory_items i JOIN recalled USING (id) WHERE ${visibleTo('i', scope, to)}
     UNION
     SELECT c.text FROM memory_chunks c JOIN recalled USING (id)
      WHERE ${visibleTo('c', scope, to)} AND c.episode_id <> ${to.add(episode.id)}::uuid
     UNION
     SELECT i.text FROM memory_items i JOIN given USING (id) WHERE i.tenant_id = ${tenant}
     UNION
     SELECT c.text FROM memory_chunks c JOIN given USING (id) WHERE c.tenant_id = ${tenant}`,
    to.values,
  );
  return rows.map(({ text }) => text);
}

/** Deletes recalls from before `cutoff` in all workspaces. Returns how many were deleted. */
export async function deleteRecalls(db: Queryable, cutoff: Date): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM memory_recalls WHERE ctid = ANY (ARRAY(SELECT ctid FROM memory_recalls WHERE recalled_at < $1 LIMIT 5000))`,
    [cutoff],
  );
  return rowCount ?? 0;
}
