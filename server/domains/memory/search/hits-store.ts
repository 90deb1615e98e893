import type { Queryable } from '../../../platform/postgres/transaction.ts';
import type { EpisodeSource, ItemKind, ItemStatus, Trust } from '../schemas.ts';
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
  source: EpisodeSource | null;
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
  const rests = (condition: string) =>
    `EXISTS (SELECT FROM memory_evidence v JOIN memory_items i ON i.tenant_id = v.tenant_id AND i.id = v.item_id
      WHERE v.tenant_id = ${to.add(scope.tenantId)} AND v.chunk_id = c.id AND ${condition})`;
  const current =
    filter.isPast || filter.includeSuperseded
      ? ''
      : `AND (NOT ${rests("i.status = 'superseded'")} OR ${rests("i.status IN ('active', 'proposed')")})`;
  const { rows } = await db.query<HitRow>(
    `SELECT i.id, true AS is_item, i.kind, i.subject, i.text, i.folded, i.tokens, i.trust, i.status, i.project_id, i.user_id,
       NULL::uuid AS episode_id, NULL AS source, NULL AS source_ref, i.valid_from AS occurred_at,
       greatest(i.valid_from, i.last_used_at) AS fresh_at, i.uses
     FROM memory_items i WHERE ${itemConditions('i', scope, filter, to)} AND i.id = ANY(${to.add(itemIds)}::uuid[])
     UNION ALL
     SELECT c.id, false, 'episode', NULL, c.text, c.folded, c.tokens, c.trust, 'active', c.project_id, c.user_id,
       c.episode_id, e.source, e.source_ref, c.occurred_at, c.occurred_at, 0
     FROM memory_chunks c JOIN memory_episodes e ON e.tenant_id = c.tenant_id AND e.id = c.episode_id
     WHERE ${chunkConditions('c', scope, filter, to)} AND c.id = ANY(${to.add(chunkIds)}::uuid[]) ${current}`,
    to.values,
  );
  return rows;
}
