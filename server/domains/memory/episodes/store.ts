import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import { newId } from '../../../platform/ids.ts';
import { type Queryable, transact } from '../../../platform/postgres/transaction.ts';
import { enqueueTexts } from '../embeddings/store.ts';
import { normalizeBlanks, type Searchable, searchable } from '../folding.ts';
import { deleteMemories } from '../forget-store.ts';
import { inItemTransaction } from '../items/store.ts';
import type { EpisodeSource, Trust } from '../schemas.ts';
import { type MemoryScope, type Narrowing, parameters, type ScopeColumns, visibleTo } from '../scope.ts';

export type NewEpisode = ScopeColumns & {
  tenantId: string;
  workflowId: string | null;
  agentId: string | null;
  source: EpisodeSource;
  sourceRef: string;
  title: string;
  trust: Trust;
  contentHash: Buffer;
  occurredAt: Date;
  createdBy: string;
  at: Date;
  chunks: readonly NewChunk[];
};
/** A chunk to insert. `isPart`: the chunk is a part of a longer message. */
export type NewChunk = { role: string; trust: Trust; text: string; occurredAt: Date; isPart?: boolean };

export type EpisodeRow = {
  id: string;
  project_id: string | null;
  workflow_id: string | null;
  agent_id: string | null;
  user_id: string | null;
  source: EpisodeSource;
  source_ref: string;
  title: string;
  trust: Trust;
  occurred_at: Date;
  created_at: Date;
};
export type ChunkRow = {
  id: string;
  episode_id: string;
  position: number;
  role: 'user' | 'assistant' | 'tool' | 'text';
  trust: Trust;
  text: string;
  occurred_at: Date;
  is_part: boolean;
};

/** The result of an insertion. `added` is false if an episode with this content existed already. */
export type Inserted = { id: string; added: boolean };

const EPISODE =
  'e.id, e.project_id, e.workflow_id, e.agent_id, e.user_id, e.source, e.source_ref, e.title, e.trust, e.occurred_at, e.created_at';

/**
 * Inserts an episode with its chunks, unless the scope has an episode with the same content and source. `replace` deletes the earlier episodes
 * of the source, because a file has one text.
 */
export function insertEpisode(pool: Pool, episode: NewEpisode, { replace }: { replace: boolean }): Promise<Inserted> {
  const insert = async (client: PoolClient): Promise<Inserted> => {
    const id = newId();
    const { rowCount } = await client.query(
      `INSERT INTO memory_episodes (tenant_id, id, project_id, workflow_id, agent_id, user_id, source, source_ref, title, trust,
         content_hash, occurred_at, created_by, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) ON CONFLICT DO NOTHING`,
      [
        episode.tenantId,
        id,
        episode.projectId,
        episode.workflowId,
        episode.agentId,
        episode.userId,
        episode.source,
        episode.sourceRef,
        episode.title,
        episode.trust,
        episode.contentHash,
        episode.occurredAt,
        episode.createdBy,
        episode.at,
      ],
    );
    if (rowCount === 0) return { id: await findSame(client, episode), added: false };
    await insertChunks(client, episode, id);
    if (replace) await forgetEarlier(client, episode, id);
    return { id, added: true };
  };
  // Replacing a text may delete items, which needs the lock of items.
  return replace ? inItemTransaction(pool, episode.tenantId, insert) : transact(pool, insert);
}

async function findSame(db: Queryable, episode: NewEpisode): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT id FROM memory_episodes WHERE tenant_id = $1 AND source_ref = $2 AND content_hash = $3 AND source = $4
       AND project_id IS NOT DISTINCT FROM $5::uuid AND user_id IS NOT DISTINCT FROM $6::uuid`,
    [episode.tenantId, episode.sourceRef, episode.contentHash, episode.source, episode.projectId, episode.userId],
  );
  const id = rows[0]?.id;
  if (id === undefined) throw new Error('The episode with this content was deleted during the insertion.');
  return id;
}

/**
 * Deletes the earlier texts of a source, with their quotes and the items that rest only on these quotes. Quotes that also occur in the new
 * text are moved to it.
 */
async function forgetEarlier(db: Queryable, episode: NewEpisode, id: string): Promise<void> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT id FROM memory_episodes WHERE tenant_id = $1 AND source_ref = $2 AND source = $3 AND id <> $4
       AND project_id IS NOT DISTINCT FROM $5::uuid AND user_id IS NOT DISTINCT FROM $6::uuid FOR UPDATE`,
    [episode.tenantId, episode.sourceRef, episode.source, id, episode.projectId, episode.userId],
  );
  const episodeIds = rows.map(row => row.id);
  if (episodeIds.length === 0) return;
  await moveQuotes(db, episode, { from: episodeIds, to: id });
  await deleteMemories(db, episode, { episodeIds, itemIds: [] });
}

async function moveQuotes(
  db: Queryable,
  { tenantId }: NewEpisode,
  { from, to }: { from: readonly string[]; to: string },
): Promise<void> {
  const [quoted, chunks] = [
    await db.query<{ id: string; quote: string }>(
      'SELECT id, quote FROM memory_evidence WHERE tenant_id = $1 AND episode_id = ANY($2::uuid[])',
      [tenantId, from],
    ),
    await db.query<{ id: string; text: string }>(
      'SELECT id, text FROM memory_chunks WHERE tenant_id = $1 AND episode_id = $2 ORDER BY position',
      [tenantId, to],
    ),
  ];
  const texts = chunks.rows.map(({ id, text }) => ({ id, text: normalizeBlanks(text) }));
  const moved = quoted.rows.flatMap(({ id, quote }) => {
    const chunk = texts.find(({ text }) => text.includes(normalizeBlanks(quote)));
    return chunk === undefined ? [] : [{ id, chunkId: chunk.id }];
  });
  await db.query(
    `UPDATE memory_evidence v SET episode_id = $2, chunk_id = m.chunk_id FROM unnest($3::uuid[], $4::uuid[]) m(id, chunk_id)
     WHERE v.tenant_id = $1 AND v.id = m.id`,
    [tenantId, to, moved.map(({ id }) => id), moved.map(({ chunkId }) => chunkId)],
  );
}

/** The chunks that are prepared before other work of the event loop gets a turn. */
const CHUNKS_PER_TURN = 50;

async function insertChunks(db: Queryable, episode: NewEpisode, episodeId: string): Promise<void> {
  const prepared: (NewChunk & Searchable)[] = [];
  for (const [at, chunk] of episode.chunks.entries()) {
    // Preparing 1 MiB takes up to 0.4 s, which would block other requests.
    if (at % CHUNKS_PER_TURN === CHUNKS_PER_TURN - 1) await nextTurn();
    prepared.push({ ...chunk, ...searchable(chunk.text) });
  }
  const ids = prepared.map(() => newId());
  const column = <K extends keyof (typeof prepared)[number]>(key: K) => prepared.map(chunk => chunk[key]);
  await db.query({
    name: 'insert_memory_chunks',
    text: `INSERT INTO memory_chunks (tenant_id, id, episode_id, project_id, workflow_id, agent_id, user_id, position, role, trust, text,
             folded, words, tokens, occurred_at, is_part)
           SELECT $1, c.id, $2, $3, $4, $5, $6, c.position - 1, c.role, c.trust, c.text, c.folded,
             to_tsvector('simple', c.plain) || to_tsvector(c.language::regconfig, c.folded), c.tokens, c.occurred_at, c.is_part
           FROM unnest($7::uuid[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::int[],
             $15::timestamptz[], $16::bool[]) WITH ORDINALITY
             c(id, role, trust, text, folded, plain, language, tokens, occurred_at, is_part, position)`,
    values: [
      episode.tenantId,
      episodeId,
      episode.projectId,
      episode.workflowId,
      episode.agentId,
      episode.userId,
      ids,
      column('role'),
      column('trust'),
      column('text'),
      column('folded'),
      column('plain'),
      column('language'),
      column('tokens'),
      column('occurredAt'),
      prepared.map(({ isPart = false }) => isPart),
    ],
  });
  await enqueueTexts(db, episode.tenantId, { ids, isItem: false });
}

/** Returns the episode; null if the principal sees no episode with this id. */
export async function findEpisode(db: Queryable, scope: MemoryScope, id: string): Promise<EpisodeRow | null> {
  const to = parameters();
  const { rows } = await db.query<EpisodeRow>(
    `SELECT ${EPISODE} FROM memory_episodes e WHERE ${visibleTo('e', scope, to)} AND e.id = ${to.add(id)}`,
    to.values,
  );
  return rows[0] ?? null;
}

export type ExtractableRow = Pick<EpisodeRow, 'id' | 'source' | 'project_id' | 'user_id'> & { chunks: number };

/** Returns the given episodes that the principal sees, with their numbers of chunks. */
export async function listExtractable(
  db: Queryable,
  scope: MemoryScope,
  ids: readonly string[],
): Promise<ExtractableRow[]> {
  const to = parameters();
  const { rows } = await db.query<ExtractableRow>(
    `SELECT e.id, e.source, e.project_id, e.user_id, (SELECT count(*)::int FROM memory_chunks c
       WHERE c.tenant_id = e.tenant_id AND c.episode_id = e.id) AS chunks
     FROM memory_episodes e WHERE ${visibleTo('e', scope, to)} AND e.id = ANY(${to.add(ids)}::uuid[])`,
    to.values,
  );
  return rows;
}

export type EpisodeKey = { at: Date; id: string };

/** Returns episodes after the keyset, newest first. */
export async function listEpisodes(
  db: Queryable,
  scope: MemoryScope,
  { after, limit, narrowing }: { after: EpisodeKey | null; limit: number; narrowing: Narrowing },
): Promise<EpisodeRow[]> {
  const to = parameters();
  const conditions = [visibleTo('e', scope, to, narrowing)];
  if (after !== null) {
    conditions.push(`(e.occurred_at, e.id) < (${to.add(after.at)}::timestamptz, ${to.add(after.id)}::uuid)`);
  }
  const { rows } = await db.query<EpisodeRow>(
    `SELECT ${EPISODE} FROM memory_episodes e WHERE ${conditions.join(' AND ')}
     ORDER BY e.occurred_at DESC, e.id DESC LIMIT ${to.add(limit)}`,
    to.values,
  );
  return rows;
}

/** Returns later episodes of the same source and scope, oldest first. */
export async function listFollowing(
  db: Queryable,
  scope: MemoryScope,
  episode: EpisodeRow,
  limit: number,
): Promise<EpisodeRow[]> {
  const to = parameters();
  const { rows } = await db.query<EpisodeRow>(
    `SELECT ${EPISODE} FROM memory_episodes e WHERE ${visibleTo('e', scope, to)}
       AND e.source = ${to.add(episode.source)} AND e.source_ref = ${to.add(episode.source_ref)}
       AND e.user_id IS NOT DISTINCT FROM ${to.add(episode.user_id)}::uuid
       AND e.project_id IS NOT DISTINCT FROM ${to.add(episode.project_id)}::uuid
       AND (e.occurred_at, e.id) > (${to.add(episode.occurred_at)}::timestamptz, ${to.add(episode.id)}::uuid)
     ORDER BY e.occurred_at, e.id LIMIT ${to.add(limit)}`,
    to.values,
  );
  return rows;
}

/** Returns at most `limit` chunks of the given episodes, in order, from a position on. */
export async function listChunks(
  db: Queryable,
  scope: MemoryScope,
  { episodeIds, from, limit }: { episodeIds: readonly string[]; from: number; limit: number },
): Promise<ChunkRow[]> {
  const to = parameters();
  const { rows } = await db.query<ChunkRow>(
    `SELECT c.id, c.episode_id, c.position, c.role, c.trust, c.text, c.occurred_at, c.is_part
     FROM memory_chunks c JOIN unnest(${to.add(episodeIds)}::uuid[]) WITH ORDINALITY e(id, nth) ON e.id = c.episode_id
     WHERE ${visibleTo('c', scope, to)} AND c.position >= ${to.add(from)}
     ORDER BY e.nth, c.position LIMIT ${to.add(limit)}`,
    to.values,
  );
  return rows;
}

/** Returns the position of a chunk in its episode; null if the episode has no chunk with this id. */
export async function findPosition(
  db: Queryable,
  scope: MemoryScope,
  { episodeId, chunkId }: { episodeId: string; chunkId: string },
): Promise<number | null> {
  const to = parameters();
  const { rows } = await db.query<{ position: number }>(
    `SELECT c.position FROM memory_chunks c
     WHERE ${visibleTo('c', scope, to)} AND c.id = ${to.add(chunkId)} AND c.episode_id = ${to.add(episodeId)}`,
    to.values,
  );
  return rows[0]?.position ?? null;
}
