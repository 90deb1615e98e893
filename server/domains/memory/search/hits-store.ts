import type { Queryable } from '../../../platform/postgres/transaction.ts';
import type { ItemKind, ItemStatus, Trust } from '../schemas.ts';
import { type MemoryScope, parameters } from '../scope.ts';
import { chunkConditions, itemConditions, type SearchFilter } from './candidates-store.ts';

export type HitRow = {
  id: string;
  is_item: boolean;
  kind: ItemKind | 'episode';
  subject: string | null;
  text: string;
  folded: string;
  tokens: number;
  trust: Trust;
  status: ItemStatus;
  project_id: string | null;
  user_id: string | null;
  episode_id: string | null;
  source_ref: string | null;
  occurred_at: Date;
  /** When it was last used or said: the later the better, where all else is equal. */
  fresh_at: Date;
  uses: number;
};

/**
 * Reads candidates that the search may find: vectors know nothing of what is true. A chunk on which only superseded items rest is as outdated
 * as they are, and is left out unless the past is asked about.
 */
export async function readHits(
  db: Queryable,
  scope: MemoryScope,
  filter: SearchFilter,
  { itemIds, chunkIds }: { itemIds: readonly string[]; chunkIds: readonly string[] },
): Promise<HitRow[]> {
  const to = parameters();
  const isPast = filter.isPast || filter.includeSuperseded;
  // An aggregate, which PostgreSQL reads for each chunk alone; it turned two EXISTS into a list of all superseded items.
  const current = isPast
    ? ''
    : `AND (SELECT coalesce(bool_and(i.status <> 'superseded') OR bool_or(i.status IN ('active', 'proposed')), true)
        FROM memory_evidence v JOIN memory_items i ON i.tenant_id = v.tenant_id AND i.id = v.item_id
        WHERE v.tenant_id = c.tenant_id AND v.chunk_id = c.id)`;
  const { rows } = await db.query<HitRow>(
    `SELECT i.id, true AS is_item, i.kind, i.subject, i.text, i.folded, i.tokens, i.trust, i.status, i.project_id, i.user_id,
       NULL::uuid AS episode_id, NULL AS source_ref, i.valid_from AS occurred_at,
       greatest(i.valid_from, i.last_used_at) AS fresh_at, i.uses
     FROM memory_items i WHERE ${itemConditions('i', scope, filter, to)} AND i.id = ANY(${to.add(itemIds)}::uuid[])
     UNION ALL
     SELECT c.id, false, 'episode', NULL, c.text, c.folded, c.tokens, c.trust, 'active', c.project_id, c.user_id,
       c.episode_id, (SELECT e.source_ref FROM memory_episodes e WHERE e.tenant_id = c.tenant_id AND e.id = c.episode_id),
       c.occurred_at, c.occurred_at, 0
     FROM memory_chunks c WHERE ${chunkConditions('c', scope, filter, to)} AND c.id = ANY(${to.add(chunkIds)}::uuid[]) ${current}`,
    to.values,
  );
  return rows;
}
