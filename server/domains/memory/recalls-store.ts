import { newId } from '../../platform/ids.ts';
import type { Queryable } from '../../platform/postgres/transaction.ts';
import { type MemoryScope, parameters, visibleTo } from './scope.ts';

/** Notes what a tool was given, and counts it as a use of the items. A failure of the machine may lose the latest. */
export async function insertRecall(
  db: Queryable,
  scope: MemoryScope,
  targetIds: readonly string[],
  at: Date,
): Promise<void> {
  const to = parameters();
  const targets = to.add(targetIds);
  const now = to.add(at);
  await db.query(
    `WITH relaxed AS (SELECT set_config('synchronous_commit', 'off', true) AS done),
       used AS (UPDATE memory_items i SET uses = uses + 1, last_used_at = ${now}
         FROM relaxed WHERE relaxed.done IS NOT NULL AND ${visibleTo('i', scope, to)} AND i.id = ANY(${targets}::uuid[]))
     INSERT INTO memory_recalls (tenant_id, id, project_id, user_id, target_ids, recalled_at)
     VALUES (${to.add(scope.tenantId)}, ${to.add(newId())}, ${to.add(scope.projectId)}, ${to.add(scope.userId)}, ${targets}::uuid[], ${now})`,
    to.values,
  );
}

/** Deletes recalls of all workspaces from before `cutoff`; returns how many. */
export async function deleteRecalls(db: Queryable, cutoff: Date): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM memory_recalls WHERE ctid = ANY (ARRAY(SELECT ctid FROM memory_recalls WHERE recalled_at < $1 LIMIT 5000))`,
    [cutoff],
  );
  return rowCount ?? 0;
}
