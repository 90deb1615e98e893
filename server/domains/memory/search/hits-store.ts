import type { Queryable } from '../../../platform/postgres/transaction.ts';
import type { ItemKind, ItemStatus, Trust } from '../schemas.ts';
import { type MemoryScope, parameters } from '../scope.ts';
import {
  chunkConditions,
  type Demands,
  demandsOf,
  isCurrentChunk,
  itemConditions,
  type SearchFilter,
} from './conditions-store.ts';

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
  /** The time at which it was said, or from which an item is true. */
  occurred_at: Date;
  /** The time at which it was last used or said. Later is better if all else is equal. */
  fresh_at: Date;
  uses: number;
};

/**
 * Reads the candidates that fulfill the conditions of the search, which vectors ignore: validity, phrases and excluded words. A chunk that
 * is evidence only of superseded items is left out.
 */
export async function readHits(
  db: Queryable,
  scope: MemoryScope,
  filter: SearchFilter,
  { itemIds, chunkIds, demands }: { itemIds: readonly string[]; chunkIds: readonly string[]; demands: Demands },
): Promise<HitRow[]> {
  const to = parameters();
  const demanded = (alias: string) =>
    demandsOf(alias, demands, to)
      .map(each => ` AND ${each}`)
      .join('');
  const { rows } = await db.query<HitRow>(
    `SELECT i.id, true AS is_item, i.kind, i.subject, i.text, i.folded, i.tokens, i.trust, i.status, i.project_id, i.user_id,
       NULL::uuid AS episode_id, NULL AS source_ref, i.valid_from AS occurred_at,
       greatest(i.valid_from, i.last_used_at) AS fresh_at, i.uses
     FROM memory_items i WHERE ${itemConditions('i', scope, filter, to)} AND i.id = ANY(${to.add(itemIds)}::uuid[])${demanded('i')}
     UNION ALL
     SELECT c.id, false, 'episode', NULL, c.text, c.folded, c.tokens, c.trust, 'active', c.project_id, c.user_id,
       c.episode_id, (SELECT e.source_ref FROM memory_episodes e WHERE e.tenant_id = c.tenant_id AND e.id = c.episode_id),
       c.occurred_at, c.occurred_at, 0
     FROM memory_chunks c WHERE ${chunkConditions('c', scope, filter, to)} AND c.id = ANY(${to.add(chunkIds)}::uuid[])
       AND ${isCurrentChunk('c', scope, filter, to)}${demanded('c')}`,
    to.values,
  );
  return rows;
}
