import type { Queryable } from '../../../platform/postgres/transaction.ts';
import { ITEM_COLUMNS, type ItemRow } from './store.ts';

/** Returns the items that superseded an item, one after the other, oldest first. */
export async function listLater(db: Queryable, tenantId: string, id: string): Promise<ItemRow[]> {
  const { rows } = await db.query<ItemRow>(
    `WITH RECURSIVE later AS (
       SELECT i.superseded_by AS id, 1 AS nth FROM memory_items i WHERE i.tenant_id = $1 AND i.id = $2
       UNION
       SELECT i.superseded_by, l.nth + 1 FROM later l JOIN memory_items i ON i.tenant_id = $1 AND i.id = l.id
     ) CYCLE id SET is_cycle USING path
     SELECT ${ITEM_COLUMNS} FROM later l JOIN memory_items i ON i.tenant_id = $1 AND i.id = l.id WHERE NOT l.is_cycle ORDER BY l.nth`,
    [tenantId, id],
  );
  return rows;
}

/** Returns the items that an item superseded, one after the other, latest first. */
export async function listEarlier(db: Queryable, tenantId: string, id: string): Promise<ItemRow[]> {
  const { rows } = await db.query<ItemRow>(
    `WITH RECURSIVE earlier AS (
       SELECT i.id, 1 AS nth FROM memory_items i WHERE i.tenant_id = $1 AND i.superseded_by = $2
       UNION
       SELECT i.id, e.nth + 1 FROM earlier e JOIN memory_items i ON i.tenant_id = $1 AND i.superseded_by = e.id
     ) CYCLE id SET is_cycle USING path
     SELECT ${ITEM_COLUMNS} FROM earlier e JOIN memory_items i ON i.tenant_id = $1 AND i.id = e.id WHERE NOT e.is_cycle ORDER BY e.nth`,
    [tenantId, id],
  );
  return rows;
}

/**
 * Deletes items with their evidence and embeddings, and removes references to them. If deleted items were between two others of a chain, the
 * later one supersedes the earlier one.
 */
export async function deleteItems(db: Queryable, tenantId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const { rows } = await db.query<{ earlier: string; later: string | null }>(
    `WITH RECURSIVE chain AS (
       SELECT i.id AS earlier, i.superseded_by AS later FROM memory_items i
       WHERE i.tenant_id = $1 AND i.superseded_by = ANY($2::uuid[]) AND NOT i.id = ANY($2::uuid[])
       UNION
       SELECT c.earlier, i.superseded_by FROM chain c JOIN memory_items i ON i.tenant_id = $1 AND i.id = c.later
       WHERE c.later = ANY($2::uuid[])
     ) SELECT earlier, later FROM chain WHERE later IS NULL OR NOT later = ANY($2::uuid[])`,
    [tenantId, ids],
  );
  const links = [tenantId, rows.map(({ earlier }) => earlier), rows.map(({ later }) => later)];
  await db.query('DELETE FROM memory_items WHERE tenant_id = $1 AND id = ANY($2::uuid[])', [tenantId, ids]);
  await db.query('UPDATE memory_items SET supersedes = NULL WHERE tenant_id = $1 AND supersedes = ANY($2::uuid[])', [
    tenantId,
    ids,
  ]);
  await db.query(
    `UPDATE memory_items i SET superseded_by = l.later FROM unnest($2::uuid[], $3::uuid[]) l(earlier, later)
     WHERE i.tenant_id = $1 AND i.id = l.earlier`,
    links,
  );
  await db.query(
    `UPDATE memory_items i SET supersedes = l.earlier FROM unnest($2::uuid[], $3::uuid[]) l(earlier, later)
     WHERE i.tenant_id = $1 AND i.id = l.later`,
    links,
  );
}
