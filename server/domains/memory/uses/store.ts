import type { Queryable } from '../../../platform/postgres/transaction.ts';
import type { ItemKind, Trust } from '../schemas.ts';
import { type MemoryScope, type Parameters, parameters, visibleTo } from '../scope.ts';

export type UseRow = {
  id: string;
  recalled_at: Date;
  step_id: string | null;
  mine: boolean;
  via: 'run' | 'chat' | 'tool';
  run_id: string | null;
  workflow_id: string | null;
  workflow_name: string | null;
  thread_id: string | null;
};

/** SQL: joins the thread `t` with the answer for which a recall `r` was made, if any. */
const THREAD = `LEFT JOIN chat_messages m ON m.run_id = r.run_id AND m.tenant_id = r.tenant_id
   LEFT JOIN chat_threads t ON t.id = m.thread_id`;
/** Returns the SQL condition for recalls whose run the reader may see. Only its owner reads a private thread. */
const isReadable = (scope: MemoryScope, to: Parameters): string =>
  `(m.thread_id IS NULL OR (t.deleted_at IS NULL AND (t.owner_id = ${to.add(scope.userId)}::uuid OR t.visibility = 'project')))`;

/**
 * Returns the uses of an item in the project, newest first. The run is null if the reader may not see it or it is not
 * kept.
 */
export async function listUses(
  db: Queryable,
  scope: MemoryScope,
  itemId: string,
  { after, limit }: { after: { at: Date; id: string } | null; limit: number },
): Promise<UseRow[]> {
  const to = parameters();
  const readable = isReadable(scope, to);
  const page = after === null ? '' : `AND (r.recalled_at, r.id) < (${to.add(after.at)}, ${to.add(after.id)}::uuid)`;
  const { rows } = await db.query<UseRow>(
    `SELECT r.id, r.recalled_at, r.user_id = ${to.add(scope.userId)}::uuid AS mine,
       CASE WHEN r.run_id IS NULL THEN 'tool' WHEN m.thread_id IS NULL THEN 'run' ELSE 'chat' END AS via,
       CASE WHEN ${readable} THEN u.id END AS run_id, CASE WHEN ${readable} THEN r.step_id END AS step_id,
       CASE WHEN ${readable} THEN w.id END AS workflow_id, CASE WHEN ${readable} THEN w.name END AS workflow_name,
       CASE WHEN ${readable} THEN m.thread_id END AS thread_id
     FROM (SELECT * FROM memory_recalls r
            WHERE r.tenant_id = ${to.add(scope.tenantId)} AND r.project_id = ${to.add(scope.projectId)}::uuid
              AND r.target_ids @> ARRAY[${to.add(itemId)}::uuid] ${page}
            ORDER BY r.recalled_at DESC, r.id DESC LIMIT ${to.add(limit)}) r
     LEFT JOIN runs u ON u.id = r.run_id AND u.tenant_id = r.tenant_id AND u.project_id = r.project_id
     LEFT JOIN workflows w ON w.id = u.workflow_id AND w.tenant_id = r.tenant_id
     ${THREAD}
     ORDER BY r.recalled_at DESC, r.id DESC`,
    to.values,
  );
  return rows;
}

/** Returns whether the project has a run of this id that the person may read. */
export async function canReadRun(db: Queryable, scope: MemoryScope, runId: string): Promise<boolean> {
  const to = parameters();
  const { rowCount } = await db.query(
    `SELECT FROM (SELECT u.id AS run_id, u.tenant_id FROM runs u WHERE u.id = ${to.add(runId)}::uuid
        AND u.tenant_id = ${to.add(scope.tenantId)} AND u.project_id = ${to.add(scope.projectId)}::uuid) r
     ${THREAD} WHERE ${isReadable(scope, to)}`,
    to.values,
  );
  return rowCount === 1;
}

export type RecalledRow = {
  id: string;
  is_item: boolean;
  kind: ItemKind | 'episode';
  subject: string | null;
  text: string;
  trust: Trust;
  episode_id: string | null;
  source_ref: string | null;
  step_id: string | null;
};

/** The maximum numbers of recalls that are read for a run, and of their texts that are shown. */
const MAX_RECALLS = 200;
const MAX_SHOWN = 100;

/**
 * Returns the memories that a run was given, in the order in which it was given them: those that the reader may see,
 * and the total number. With `stepId`, only the memories of one agent: those before its first turn, and those of its
 * calls.
 */
export async function listRecalled(
  db: Queryable,
  scope: MemoryScope,
  { runId, stepId }: { runId: string; stepId: string | null },
): Promise<{ rows: RecalledRow[]; total: number }> {
  const to = parameters();
  const step = to.add(stepId);
  const { rows } = await db.query<(RecalledRow | { id: null }) & { total: number }>(
    `WITH recalled AS MATERIALIZED (
       SELECT DISTINCT ON (given.id) given.id, r.step_id, r.recalled_at, given.place
         FROM (SELECT * FROM memory_recalls r
                WHERE r.tenant_id = ${to.add(scope.tenantId)} AND r.project_id = ${to.add(scope.projectId)}::uuid
                  AND r.run_id = ${to.add(runId)}::uuid
                  AND (${step}::text IS NULL OR r.step_id = ${step} OR starts_with(r.step_id, ${step} || '.'))
                ORDER BY r.recalled_at, r.id LIMIT ${MAX_RECALLS}) r, unnest(r.target_ids) WITH ORDINALITY AS given(id, place)
        ORDER BY given.id, r.recalled_at),
     seen AS (
       SELECT i.id, true AS is_item, i.kind, i.subject, i.text, i.trust, NULL::uuid AS episode_id, NULL AS source_ref
         FROM memory_items i JOIN recalled USING (id) WHERE ${visibleTo('i', scope, to)}
       UNION ALL
       SELECT c.id, false, 'episode', NULL, c.text, c.trust, c.episode_id,
         (SELECT e.source_ref FROM memory_episodes e WHERE e.tenant_id = c.tenant_id AND e.id = c.episode_id)
         FROM memory_chunks c JOIN recalled USING (id) WHERE ${visibleTo('c', scope, to)})
     SELECT s.*, r.step_id, count.total FROM (SELECT count(*)::int AS total FROM recalled) count
       LEFT JOIN (recalled r JOIN seen s USING (id)) ON true
      ORDER BY r.recalled_at, r.place LIMIT ${MAX_SHOWN}`,
    to.values,
  );
  // If the reader may see no memory, the only row has only the count.
  const seen = rows.flatMap(({ total: _, ...row }) => (row.id === null ? [] : [row]));
  return { rows: seen, total: rows[0]?.total ?? 0 };
}
