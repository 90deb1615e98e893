import type { Queryable } from '../../../platform/postgres/transaction.ts';
import type { ItemStatus } from '../schemas.ts';
import { type MemoryScope, parameters, visibleTo } from '../scope.ts';

export type HealthCounts = Record<ItemStatus, number> & { never_used: number; episodes: number };

/** Counts the items and episodes that the principal sees. `never_used`: active items from before `usedBy` that no search of a tool found. */
export async function countMemories(
  db: Queryable,
  scope: MemoryScope,
  { now, usedBy }: { now: Date; usedBy: Date },
): Promise<HealthCounts> {
  const to = parameters();
  const at = to.add(now);
  const before = to.add(usedBy);
  const valid = `(i.expires_at IS NULL OR i.expires_at > ${at}::timestamptz)`;
  const { rows } = await db.query<HealthCounts>(
    `SELECT count(*) FILTER (WHERE i.status = 'proposed')::int AS proposed,
       count(*) FILTER (WHERE i.status = 'active')::int AS active,
       count(*) FILTER (WHERE i.status = 'rejected')::int AS rejected,
       count(*) FILTER (WHERE i.status = 'superseded')::int AS superseded,
       count(*) FILTER (WHERE i.status = 'active' AND i.uses = 0 AND ${valid} AND i.created_at < ${before}::timestamptz)::int AS never_used,
       (SELECT count(*)::int FROM memory_episodes e WHERE ${visibleTo('e', scope, to)}) AS episodes
     FROM memory_items i WHERE ${visibleTo('i', scope, to)}`,
    to.values,
  );
  return rows[0] ?? { proposed: 0, active: 0, rejected: 0, superseded: 0, never_used: 0, episodes: 0 };
}

export type ItemPair = { first: string; second: string };

/** The SQL condition that two items have the same subject and place. */
const SAME_SUBJECT = `a.subject_key = b.subject_key AND a.project_id IS NOT DISTINCT FROM b.project_id
  AND a.user_id IS NOT DISTINCT FROM b.user_id AND a.workflow_id IS NOT DISTINCT FROM b.workflow_id
  AND a.agent_id IS NOT DISTINCT FROM b.agent_id`;

/**
 * Returns pairs of active items of one subject and place with similar texts. Only the newest `among` items are compared, because the number of
 * comparisons grows with the square of the items.
 */
export async function findDuplicates(
  db: Queryable,
  scope: MemoryScope,
  { among, similarity, limit }: { among: number; similarity: number; limit: number },
): Promise<ItemPair[]> {
  const to = parameters();
  const { rows } = await db.query<ItemPair>(
    `WITH newest AS MATERIALIZED (
       SELECT i.id, i.subject_key, i.project_id, i.user_id, i.workflow_id, i.agent_id, left(i.folded, 500) AS folded
       FROM memory_items i WHERE ${visibleTo('i', scope, to)} AND i.status = 'active'
       ORDER BY i.created_at DESC, i.id DESC LIMIT ${to.add(among)})
     SELECT a.id AS first, b.id AS second FROM newest a JOIN newest b ON ${SAME_SUBJECT} AND a.id < b.id
     WHERE similarity(a.folded, b.folded) >= ${to.add(similarity)}
     ORDER BY similarity(a.folded, b.folded) DESC, a.id, b.id LIMIT ${to.add(limit)}`,
    to.values,
  );
  return rows;
}

/** Returns proposals with the active item that each would supersede. A person has to decide which of the two is true. */
export async function findContradictions(db: Queryable, scope: MemoryScope, limit: number): Promise<ItemPair[]> {
  const to = parameters();
  const { rows } = await db.query<ItemPair>(
    `SELECT i.id AS first, old.id AS second FROM memory_items i
     JOIN memory_items old ON old.tenant_id = i.tenant_id AND old.id = i.supersedes AND old.status = 'active'
     WHERE ${visibleTo('i', scope, to)} AND ${visibleTo('old', scope, to)} AND i.status = 'proposed'
     ORDER BY i.created_at DESC, i.id DESC LIMIT ${to.add(limit)}`,
    to.values,
  );
  return rows;
}
