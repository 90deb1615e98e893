import type { Queryable } from '../../platform/postgres/transaction.ts';
import { deleteItems } from './items/chain-store.ts';
import { type MemoryScope, parameters, type ScopeColumns, visibleTo } from './scope.ts';

/** Selects the memories to forget, among those that the principal may see. */
export type ForgetSelection =
  | { of: 'me' | 'project' }
  | { of: 'thread'; ref: string }
  | { of: 'episode' | 'workflow' | 'agent'; id: string };
type Row = { id: string; project_id: string | null; user_id: string | null };
export type Found = ScopeColumns & { id: string };
const foundOf = (row: Row): Found => ({ id: row.id, projectId: row.project_id, userId: row.user_id });

/** Returns the selected episodes and items, locked. Selecting an episode or a thread selects no items. */
export async function findSelectedMemories(
  db: Queryable,
  scope: MemoryScope,
  what: ForgetSelection,
): Promise<{ episodes: Found[]; items: Found[] }> {
  const episodes = await select(db, scope, 'memory_episodes', what);
  const items = what.of === 'episode' || what.of === 'thread' ? [] : await select(db, scope, 'memory_items', what);
  return { episodes, items };
}

async function select(db: Queryable, scope: MemoryScope, table: string, what: ForgetSelection): Promise<Found[]> {
  const to = parameters();
  const condition = () => {
    switch (what.of) {
      case 'me':
        return `m.user_id = ${to.add(scope.userId)}`;
      case 'project':
        return 'm.project_id IS NOT NULL';
      case 'thread':
        return `m.source_ref = ${to.add(what.ref)}`;
      case 'episode':
        return `m.id = ${to.add(what.id)}`;
      case 'workflow':
        return `m.workflow_id = ${to.add(what.id)}`;
      case 'agent':
        return `m.agent_id = ${to.add(what.id)}`;
    }
  };
  const { rows } = await db.query<Row>(
    `SELECT m.id, m.project_id, m.user_id FROM ${table} m WHERE ${visibleTo('m', scope, to)} AND ${condition()} FOR UPDATE`,
    to.values,
  );
  return rows.map(foundOf);
}

/**
 * Deletes episodes and items with their chunks, evidence and embeddings, and machine-made items whose evidence is only in these episodes.
 * Returns the deleted items.
 */
export async function deleteMemories(
  db: Queryable,
  { tenantId }: Pick<MemoryScope, 'tenantId'>,
  { episodeIds, itemIds }: { episodeIds: readonly string[]; itemIds: readonly string[] },
): Promise<Found[]> {
  const { rows } = await db.query<Row>(
    `WITH gone AS (DELETE FROM memory_evidence WHERE tenant_id = $1 AND episode_id = ANY($2::uuid[]) RETURNING item_id)
     SELECT i.id, i.project_id, i.user_id FROM memory_items i WHERE i.tenant_id = $1 AND (i.id = ANY($3::uuid[])
       OR (i.author = 'machine' AND i.id IN (SELECT item_id FROM gone) AND NOT EXISTS (SELECT FROM memory_evidence v
         WHERE v.tenant_id = $1 AND v.item_id = i.id AND NOT v.episode_id = ANY($2::uuid[]))))`,
    [tenantId, episodeIds, itemIds],
  );
  const ids = rows.map(({ id }) => id);
  await deleteItems(db, tenantId, ids);
  await db.query('DELETE FROM memory_episodes WHERE tenant_id = $1 AND id = ANY($2::uuid[])', [tenantId, episodeIds]);
  return rows.map(foundOf);
}

/** Deletes the recalls for a person in a project, because the queries of a person reveal something about them. */
export async function deleteRecallsOf(db: Queryable, { tenantId, projectId, userId }: MemoryScope): Promise<void> {
  await db.query('DELETE FROM memory_recalls WHERE tenant_id = $1 AND project_id = $2 AND user_id = $3', [
    tenantId,
    projectId,
    userId,
  ]);
}
