import type { Pool } from 'pg';
import { type Queryable, transact } from '../../../platform/postgres/transaction.ts';
import { type MemoryScope, type Narrowing, parameters, visibleTo } from '../scope.ts';

export type EmbeddingSettings = {
  model: string;
  dimensions: number;
  space: string;
  /** Whether the queue of texts has been empty since the model was set. */
  ready: boolean;
};

/** Returns the embedding model of a workspace; null if it has none. */
export async function readSettings(db: Queryable, tenantId: string): Promise<EmbeddingSettings | null> {
  const { rows } = await db.query<EmbeddingSettings>({
    name: 'read_memory_settings',
    text: `SELECT embedding_model AS model, dimensions, space, ready_at IS NOT NULL AS ready FROM memory_settings WHERE tenant_id = $1`,
    values: [tenantId],
  });
  return rows[0] ?? null;
}

/** Sets the model. Enqueues every text if the space changes. */
export function saveSettings(
  pool: Pool,
  tenantId: string,
  settings: Omit<EmbeddingSettings, 'ready'> & { updatedBy: string },
  at: Date,
): Promise<void> {
  const { model, dimensions, space, updatedBy } = settings;
  return transact(pool, async client => {
    const before = await readSettings(client, tenantId);
    if (before?.space === space) return;
    await client.query(
      `INSERT INTO memory_settings (tenant_id, embedding_model, dimensions, space, updated_by, updated_at)
       VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (tenant_id) DO UPDATE SET embedding_model = excluded.embedding_model, dimensions = excluded.dimensions,
         space = excluded.space, ready_at = NULL, updated_by = excluded.updated_by, updated_at = excluded.updated_at`,
      [tenantId, model, dimensions, space, updatedBy, at],
    );
    await client.query(
      `INSERT INTO memory_pending (tenant_id, target_id, is_item)
       SELECT tenant_id, id, true FROM memory_items WHERE tenant_id = $1
       UNION ALL SELECT tenant_id, id, false FROM memory_chunks WHERE tenant_id = $1
       ON CONFLICT (tenant_id, target_id) DO UPDATE SET version = memory_pending.version + 1`,
      [tenantId],
    );
  });
}

/** Deletes the model of a workspace and all embeddings. */
export async function deleteSettings(pool: Pool, tenantId: string): Promise<void> {
  await transact(pool, async client => {
    for (const table of ['memory_settings', 'memory_pending', 'memory_bits', 'memory_codes']) {
      await client.query(`DELETE FROM ${table} WHERE tenant_id = $1`, [tenantId]);
    }
  });
}

/** Enqueues new or changed texts if the workspace has a model. */
export async function enqueueTexts(
  db: Queryable,
  tenantId: string,
  { ids, isItem }: { ids: readonly string[]; isItem: boolean },
): Promise<void> {
  await db.query({
    name: 'enqueue_memory_texts',
    text: `INSERT INTO memory_pending (tenant_id, target_id, is_item)
           SELECT $1, t.id, $3 FROM unnest($2::uuid[]) t(id) WHERE EXISTS (SELECT FROM memory_settings WHERE tenant_id = $1)
           ON CONFLICT (tenant_id, target_id) DO UPDATE SET version = memory_pending.version + 1`,
    values: [tenantId, ids, isItem],
  });
}

/** Returns the number of pending texts of a workspace, counted up to `limit`. */
export async function countPending(db: Queryable, tenantId: string, limit: number): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM (SELECT FROM memory_pending WHERE tenant_id = $1 LIMIT $2) waiting',
    [tenantId, limit],
  );
  return rows[0]?.count ?? 0;
}

/** Returns at most `limit` workspaces with pending texts. */
export async function listWaitingTenants(db: Queryable, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ tenant_id: string }>(
    `SELECT s.tenant_id FROM memory_settings s
     WHERE s.ready_at IS NULL OR EXISTS (SELECT FROM memory_pending p WHERE p.tenant_id = s.tenant_id) LIMIT $1`,
    [limit],
  );
  return rows.map(row => row.tenant_id);
}

/** A pending text. `text` is null if the memory was deleted meanwhile. */
export type PendingText = { id: string; is_item: boolean; version: number; text: string | null };

/** Returns the next pending texts of a workspace. */
export async function readPending(db: Queryable, tenantId: string, limit: number): Promise<PendingText[]> {
  const { rows } = await db.query<PendingText>(
    `SELECT p.target_id AS id, p.is_item, p.version, coalesce(i.subject || ': ' || i.text, c.text) AS text
     FROM (SELECT * FROM memory_pending WHERE tenant_id = $1 ORDER BY target_id LIMIT $2) p
     LEFT JOIN memory_items i ON p.is_item AND i.tenant_id = $1 AND i.id = p.target_id
     LEFT JOIN memory_chunks c ON NOT p.is_item AND c.tenant_id = $1 AND c.id = p.target_id`,
    [tenantId, limit],
  );
  return rows;
}

export type NewEmbedding = { id: string; isItem: boolean; bits: string; codes: Buffer };

/**
 * Stores embeddings of texts that still exist, and removes the texts from the queue unless they have changed meanwhile. Stores nothing if the
 * workspace has another space by now.
 */
export async function saveEmbeddings(
  pool: Pool,
  { tenantId, space }: { tenantId: string; space: string },
  embeddings: readonly NewEmbedding[],
  done: readonly PendingText[],
): Promise<void> {
  await transact(pool, async client => {
    // The lock keeps the model from changing before the commit.
    const { rowCount } = await client.query(
      'SELECT FROM memory_settings WHERE tenant_id = $1 AND space = $2 FOR SHARE',
      [tenantId, space],
    );
    if (rowCount === 0) return;
    await client.query({
      name: 'insert_memory_embeddings',
      text: `WITH given AS (SELECT * FROM unnest($3::uuid[], $4::bool[], $5::text[], $6::bytea[]) g(id, is_item, bits, codes)),
         present AS (
           SELECT g.*, i.project_id, i.user_id, i.workflow_id, i.agent_id FROM given g JOIN memory_items i ON g.is_item AND i.tenant_id = $1 AND i.id = g.id
           UNION ALL
           SELECT g.*, c.project_id, c.user_id, c.workflow_id, c.agent_id FROM given g JOIN memory_chunks c ON NOT g.is_item AND c.tenant_id = $1 AND c.id = g.id
         ), codes AS (
           INSERT INTO memory_codes (tenant_id, space, target_id, codes) SELECT $1, $2, id, codes FROM present
           ON CONFLICT (tenant_id, space, target_id) DO UPDATE SET codes = excluded.codes)
         INSERT INTO memory_bits (tenant_id, space, target_id, is_item, project_id, user_id, workflow_id, agent_id, bits)
         SELECT $1, $2, id, is_item, project_id, user_id, workflow_id, agent_id, bits::varbit FROM present
         ON CONFLICT (tenant_id, space, target_id) DO UPDATE SET bits = excluded.bits`,
      values: [
        tenantId,
        space,
        embeddings.map(({ id }) => id),
        embeddings.map(({ isItem }) => isItem),
        embeddings.map(({ bits }) => bits),
        embeddings.map(({ codes }) => codes),
      ],
    });
    await client.query(
      `DELETE FROM memory_pending p USING unnest($2::uuid[], $3::int[]) d(id, version)
       WHERE p.tenant_id = $1 AND p.target_id = d.id AND p.version = d.version`,
      [tenantId, done.map(({ id }) => id), done.map(({ version }) => version)],
    );
  });
}

/** Records that every text of a workspace has its embedding. Deletes the embeddings of former models. */
export async function finishEmbedding(db: Queryable, tenantId: string, space: string, at: Date): Promise<void> {
  await db.query(
    `WITH current AS (UPDATE memory_settings SET ready_at = coalesce(ready_at, $3) WHERE tenant_id = $1 AND space = $2 RETURNING space),
       bits AS (DELETE FROM memory_bits b USING current WHERE b.tenant_id = $1 AND b.space <> current.space)
     DELETE FROM memory_codes c USING current WHERE c.tenant_id = $1 AND c.space <> current.space`,
    [tenantId, space, at],
  );
}

export type Near = { id: string; is_item: boolean; codes: Buffer };

/** Returns the embeddings with the nearest signs among all that the principal may see, with their codes. */
export async function findNearest(
  db: Queryable,
  scope: MemoryScope,
  search: {
    space: string;
    bits: string;
    narrowing: Narrowing;
    items: boolean;
    chunks: boolean;
    limit: number;
  },
): Promise<Near[]> {
  const to = parameters();
  const bits = `${to.add(search.bits)}::varbit`;
  const wanted = search.items === search.chunks ? '' : `AND b.is_item = ${to.add(search.items)}`;
  const { rows } = await db.query<Near>(
    `SELECT n.id, n.is_item, c.codes FROM (
       SELECT b.target_id AS id, b.is_item, bit_count(b.bits # ${bits}) AS distance FROM memory_bits b
       WHERE ${visibleTo('b', scope, to, search.narrowing)} AND b.space = ${to.add(search.space)} ${wanted}
       ORDER BY distance LIMIT ${to.add(search.limit)}) n
     JOIN memory_codes c ON c.tenant_id = ${to.add(scope.tenantId)} AND c.space = ${to.add(search.space)} AND c.target_id = n.id`,
    to.values,
  );
  return rows;
}

/** Returns the codes of texts by id. Texts without an embedding are left out. */
export async function readCodes(
  db: Queryable,
  tenantId: string,
  { space, ids }: { space: string; ids: readonly string[] },
): Promise<Map<string, Buffer>> {
  const { rows } = await db.query<{ id: string; codes: Buffer }>(
    'SELECT target_id AS id, codes FROM memory_codes WHERE tenant_id = $1 AND space = $2 AND target_id = ANY($3::uuid[])',
    [tenantId, space, ids],
  );
  return new Map(rows.map(({ id, codes }) => [id, codes]));
}
