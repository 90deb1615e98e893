import type { Pool, PoolClient } from 'pg';
import { newId } from '../../../platform/ids.ts';
import { type Queryable, transact } from '../../../platform/postgres/transaction.ts';
import { enqueueTexts } from '../embeddings/store.ts';
import { fingerprint, searchable, subjectKey } from '../folding.ts';
import type { ItemKind, ItemStatus, Trust } from '../schemas.ts';
import { type MemoryScope, type Narrowing, parameters, type ScopeColumns, visibleTo } from '../scope.ts';
import { isOutdatedAt, isTrueAt } from '../validity-store.ts';

export type ItemRow = {
  id: string;
  project_id: string | null;
  workflow_id: string | null;
  agent_id: string | null;
  user_id: string | null;
  subject: string;
  subject_key: string;
  kind: ItemKind;
  text: string;
  status: ItemStatus;
  trust: Trust;
  author: 'person' | 'machine';
  confidence: number;
  pinned: boolean;
  valid_from: Date;
  valid_to: Date | null;
  supersedes: string | null;
  superseded_by: string | null;
  expires_at: Date | null;
  uses: number;
  last_used_at: Date | null;
  created_by: string;
  created_at: Date;
  confirmed_by: string | null;
  confirmed_at: Date | null;
  updated_at: Date;
};
export const ITEM_COLUMNS = `i.id, i.project_id, i.workflow_id, i.agent_id, i.user_id, i.subject, i.subject_key, i.kind, i.text, i.status,
  i.trust, i.author, i.confidence, i.pinned, i.valid_from, i.valid_to, i.supersedes, i.superseded_by, i.expires_at, i.uses,
  i.last_used_at, i.created_by, i.created_at, i.confirmed_by, i.confirmed_at, i.updated_at`;

export type EvidenceRow = {
  item_id: string;
  chunk_id: string;
  episode_id: string;
  quote: string;
  trust: Trust;
  added_at: Date;
};
export type NewEvidence = { chunkId: string; episodeId: string; quote: string; trust: Trust };

/** The place of an item. Items in different places are different items, even if their texts are equal. */
export type ItemPlace = ScopeColumns & { tenantId: string; workflowId: string | null; agentId: string | null };
export type ItemContent = { subject: string; kind: ItemKind; text: string };
export type NewItem = ItemContent & {
  status: ItemStatus;
  trust: Trust;
  author: ItemRow['author'];
  confidence: number;
  validFrom: Date;
  expiresAt: Date | null;
  supersedes: string | null;
  createdBy: string;
};

/** Runs `work` in a transaction that holds the workspace's lock for items, so that concurrent writers cannot insert the same item. */
export function inItemTransaction<T>(
  pool: Pool,
  tenantId: string,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  return transact(pool, async client => {
    await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`memory items of ${tenantId}`]);
    return work(client);
  });
}

const samePlace = (place: ItemPlace, add: (value: unknown) => string): string =>
  `i.tenant_id = ${add(place.tenantId)} AND i.project_id IS NOT DISTINCT FROM ${add(place.projectId)}::uuid
   AND i.user_id IS NOT DISTINCT FROM ${add(place.userId)}::uuid
   AND i.workflow_id IS NOT DISTINCT FROM ${add(place.workflowId)}::uuid
   AND i.agent_id IS NOT DISTINCT FROM ${add(place.agentId)}::uuid`;

/**
 * Returns the item of a place with the same subject and text, ignoring case, accents, blanks and punctuation; null for
 * none. Outdated items are ignored, because their statements may become true again.
 */
export async function findSameItem(
  db: Queryable,
  place: ItemPlace,
  content: Pick<ItemContent, 'subject' | 'text'>,
  at: Date,
): Promise<ItemRow | null> {
  const to = parameters();
  const { rows } = await db.query<ItemRow>(
    `SELECT ${ITEM_COLUMNS} FROM memory_items i WHERE ${samePlace(place, to.add)}
       AND NOT (${isOutdatedAt('i', `${to.add(at)}::timestamptz`)})
       AND i.fingerprint = ${to.add(fingerprint(content.subject, content.text))} ORDER BY i.id LIMIT 1`,
    to.values,
  );
  return rows[0] ?? null;
}

/** Inserts an item and returns its id. */
export async function insertItem(db: Queryable, place: ItemPlace, item: NewItem, at: Date): Promise<string> {
  const id = newId();
  const { folded, plain, language, tokens } = searchable(item.text, item.subject);
  const isActive = item.status === 'active';
  await db.query(
    `INSERT INTO memory_items (tenant_id, id, project_id, workflow_id, agent_id, user_id, subject, subject_key, kind, text, folded, words,
       tokens, fingerprint, status, trust, author, confidence, valid_from, expires_at, supersedes, created_by, created_at,
       confirmed_by, confirmed_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, ${WORDS('$12', '$13', '$11', '$8')},
       $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $24)`,
    [
      place.tenantId,
      id,
      place.projectId,
      place.workflowId,
      place.agentId,
      place.userId,
      item.subject,
      subjectKey(item.subject),
      item.kind,
      item.text,
      folded,
      plain,
      language,
      tokens,
      fingerprint(item.subject, item.text),
      item.status,
      item.trust,
      item.author,
      item.confidence,
      item.validFrom,
      item.expiresAt,
      item.supersedes,
      item.createdBy,
      at,
      isActive ? item.createdBy : null,
      isActive ? at : null,
    ],
  );
  await enqueueTexts(db, place.tenantId, { ids: [id], isItem: true });
  return id;
}

/** Returns the SQL for the words of an item, in which the words of the subject have the highest weight. */
const WORDS = (plain: string, language: string, folded: string, subject: string) =>
  `setweight(to_tsvector('simple', ${subject}::text), 'A') || to_tsvector('simple', ${plain}::text)
   || to_tsvector(${language}::text::regconfig, ${folded}::text)`;

/** Adds evidence to an item, unless the item already has it. */
export async function addEvidence(
  db: Queryable,
  { tenantId, itemId }: { tenantId: string; itemId: string },
  evidence: readonly NewEvidence[],
  at: Date,
): Promise<void> {
  if (evidence.length === 0) return;
  await db.query(
    `INSERT INTO memory_evidence (tenant_id, id, item_id, episode_id, chunk_id, quote, trust, added_at)
     SELECT $1, e.id, $2, e.episode_id, e.chunk_id, e.quote, e.trust, $8
     FROM unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::text[]) e(id, episode_id, chunk_id, quote, trust)
     WHERE NOT EXISTS (SELECT FROM memory_evidence known
       WHERE known.tenant_id = $1 AND known.item_id = $2 AND known.chunk_id = e.chunk_id AND known.quote = e.quote)`,
    [
      tenantId,
      itemId,
      evidence.map(() => newId()),
      evidence.map(each => each.episodeId),
      evidence.map(each => each.chunkId),
      evidence.map(each => each.quote),
      evidence.map(each => each.trust),
      at,
    ],
  );
}

export type QuotableChunk = {
  id: string;
  episode_id: string;
  project_id: string | null;
  user_id: string | null;
  role: string;
  trust: Trust;
  text: string;
  /** Whether the chunk is a part of a longer message. */
  is_part: boolean;
};

/** Returns the given chunks that the principal sees. */
export async function findChunks(db: Queryable, scope: MemoryScope, ids: readonly string[]): Promise<QuotableChunk[]> {
  const to = parameters();
  const { rows } = await db.query<QuotableChunk>(
    `SELECT c.id, c.episode_id, c.project_id, c.user_id, c.role, c.trust, c.text, c.is_part FROM memory_chunks c
     WHERE ${visibleTo('c', scope, to)} AND c.id = ANY(${to.add(ids)}::uuid[])`,
    to.values,
  );
  return rows;
}

/** The maximum number of texts from outside that are read of one conversation. */
const MAX_OUTSIDE = 500;

/** Returns the texts from outside in the episodes of quoted model messages, by the id of the episode. */
export async function listOutside(
  db: Queryable,
  tenantId: string,
  quoted: readonly { role: string; episode_id: string }[],
): Promise<Map<string, string[]>> {
  const episodeIds = quoted.flatMap(({ role, episode_id }) => (role === 'assistant' ? [episode_id] : []));
  if (episodeIds.length === 0) return new Map();
  const { rows } = await db.query<{ episode_id: string; texts: string[] }>(
    `SELECT e.id AS episode_id, array_agg(c.text) AS texts FROM unnest($2::uuid[]) e(id) CROSS JOIN LATERAL (
       SELECT c.text FROM memory_chunks c WHERE c.tenant_id = $1 AND c.episode_id = e.id AND c.trust = 'untrusted'
       ORDER BY c.position LIMIT ${MAX_OUTSIDE}) c GROUP BY e.id`,
    [tenantId, [...new Set(episodeIds)]],
  );
  return new Map(rows.map(({ episode_id, texts }) => [episode_id, texts]));
}

/** Returns the item; null if the principal sees no item with this id. `lock`: locks it until the transaction ends. */
export async function findItem(
  db: Queryable,
  scope: MemoryScope,
  id: string,
  { lock = false }: { lock?: boolean } = {},
): Promise<ItemRow | null> {
  const to = parameters();
  const { rows } = await db.query<ItemRow>(
    `SELECT ${ITEM_COLUMNS} FROM memory_items i WHERE ${visibleTo('i', scope, to)} AND i.id = ${to.add(id)}
     ${lock ? 'FOR UPDATE' : ''}`,
    to.values,
  );
  return rows[0] ?? null;
}

/** Returns the given items that the principal sees. */
export async function findItems(db: Queryable, scope: MemoryScope, ids: readonly string[]): Promise<ItemRow[]> {
  const to = parameters();
  const { rows } = await db.query<ItemRow>(
    `SELECT ${ITEM_COLUMNS} FROM memory_items i WHERE ${visibleTo('i', scope, to)} AND i.id = ANY(${to.add(ids)}::uuid[])`,
    to.values,
  );
  return rows;
}

/** Returns items of the place for each subject: the newest active items, then proposals. */
export async function listOfSubjects(
  db: Queryable,
  place: ItemPlace,
  { subjects, limit }: { subjects: readonly string[]; limit: number },
): Promise<{ subject: string; item: ItemRow }[]> {
  const to = parameters();
  const keys = to.add(subjects.map(subjectKey));
  const { rows } = await db.query<ItemRow>(
    `SELECT found.* FROM (SELECT DISTINCT unnest(${keys}::text[]) AS key) asked CROSS JOIN LATERAL (
       SELECT ${ITEM_COLUMNS} FROM memory_items i WHERE ${samePlace(place, to.add)} AND i.subject_key = asked.key
         AND i.status IN ('active', 'proposed')
       ORDER BY i.status, i.created_at DESC, i.id DESC LIMIT ${to.add(limit)}) found`,
    to.values,
  );
  return subjects.flatMap(subject =>
    rows.filter(row => row.subject_key === subjectKey(subject)).map(item => ({ subject, item })),
  );
}

/** Returns pinned items that are true at a time, oldest first, so that their order is stable. */
export async function listPinned(
  db: Queryable,
  scope: MemoryScope,
  { narrowing, at, limit }: { narrowing: Narrowing; at: Date; limit: number },
): Promise<(ItemRow & { tokens: number })[]> {
  const to = parameters();
  const now = `${to.add(at)}::timestamptz`;
  const { rows } = await db.query<ItemRow & { tokens: number }>(
    `SELECT ${ITEM_COLUMNS}, i.tokens FROM memory_items i WHERE ${visibleTo('i', scope, to, narrowing)} AND i.pinned
       AND ${isTrueAt('i', now)} ORDER BY i.created_at, i.id LIMIT ${to.add(limit)}`,
    to.values,
  );
  return rows;
}

export type ItemFilter = Narrowing & {
  status?: ItemStatus | undefined;
  kind?: ItemKind | undefined;
  subject?: string | undefined;
};
export type ItemKey = { at: Date; id: string };

/** Returns items after the keyset, newest first. */
export async function listItems(
  db: Queryable,
  scope: MemoryScope,
  { after, limit, filter }: { after: ItemKey | null; limit: number; filter: ItemFilter },
): Promise<ItemRow[]> {
  const to = parameters();
  const conditions = [visibleTo('i', scope, to, filter)];
  if (filter.status !== undefined) conditions.push(`i.status = ${to.add(filter.status)}`);
  if (filter.kind !== undefined) conditions.push(`i.kind = ${to.add(filter.kind)}`);
  if (filter.subject !== undefined) conditions.push(`i.subject_key = ${to.add(subjectKey(filter.subject))}`);
  if (after !== null) {
    conditions.push(`(i.created_at, i.id) < (${to.add(after.at)}::timestamptz, ${to.add(after.id)}::uuid)`);
  }
  const { rows } = await db.query<ItemRow>(
    `SELECT ${ITEM_COLUMNS} FROM memory_items i WHERE ${conditions.join(' AND ')}
     ORDER BY i.created_at DESC, i.id DESC LIMIT ${to.add(limit)}`,
    to.values,
  );
  return rows;
}

/** Returns the evidence of items, newest first. */
export async function listEvidence(
  db: Queryable,
  { tenantId }: Pick<MemoryScope, 'tenantId'>,
  itemIds: readonly string[],
): Promise<EvidenceRow[]> {
  const { rows } = await db.query<EvidenceRow>(
    `SELECT item_id, chunk_id, episode_id, quote, trust, added_at FROM memory_evidence
     WHERE tenant_id = $1 AND item_id = ANY($2::uuid[]) ORDER BY added_at DESC, id DESC`,
    [tenantId, itemIds],
  );
  return rows;
}

export type ItemChange = {
  status?: ItemStatus;
  pinned?: boolean;
  trust?: Trust;
  author?: ItemRow['author'];
  validTo?: Date | null;
  supersedes?: string | null;
  supersededBy?: string | null;
  expiresAt?: Date | null;
  confirmedBy?: string | null;
  confirmedAt?: Date | null;
};
const COLUMN: Readonly<Record<keyof ItemChange, string>> = {
  status: 'status',
  pinned: 'pinned',
  trust: 'trust',
  author: 'author',
  validTo: 'valid_to',
  supersedes: 'supersedes',
  supersededBy: 'superseded_by',
  expiresAt: 'expires_at',
  confirmedBy: 'confirmed_by',
  confirmedAt: 'confirmed_at',
};

type ItemRef = { tenantId: string; id: string };

/** Changes the given fields of an item. */
export async function updateItem(
  db: Queryable,
  { tenantId, id }: ItemRef,
  change: ItemChange,
  at: Date,
): Promise<void> {
  const to = parameters();
  const sets = Object.entries(change).map(
    ([field, value]) => `${COLUMN[field as keyof ItemChange]} = ${to.add(value)}`,
  );
  sets.push(`updated_at = ${to.add(at)}`, 'revision = revision + 1');
  await db.query(
    `UPDATE memory_items SET ${sets.join(', ')} WHERE tenant_id = ${to.add(tenantId)} AND id = ${to.add(id)}`,
    to.values,
  );
}

/** Replaces the words of an item. Deletes its embedding and enqueues the new text. */
export async function rewriteItem(db: Queryable, ref: ItemRef, content: ItemContent, at: Date): Promise<void> {
  const { folded, plain, language, tokens } = searchable(content.text, content.subject);
  await db.query(
    `WITH bits AS (DELETE FROM memory_bits WHERE tenant_id = $1 AND target_id = $2),
          codes AS (DELETE FROM memory_codes WHERE tenant_id = $1 AND target_id = $2)
     UPDATE memory_items SET subject = $3, subject_key = $4, kind = $5, text = $6, folded = $7,
       words = ${WORDS('$8', '$9', '$7', '$4')}, tokens = $10, fingerprint = $11, updated_at = $12, revision = revision + 1
     WHERE tenant_id = $1 AND id = $2`,
    [
      ref.tenantId,
      ref.id,
      content.subject,
      subjectKey(content.subject),
      content.kind,
      content.text,
      folded,
      plain,
      language,
      tokens,
      fingerprint(content.subject, content.text),
      at,
    ],
  );
  await enqueueTexts(db, ref.tenantId, { ids: [ref.id], isItem: true });
}
