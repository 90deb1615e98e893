import type { Queryable } from '../../platform/postgres/transaction.ts';

/**
 * Returns the memories that rest on text from outside: text of tools, webhooks and files, and answers of models, which may quote such text.
 * An item that a person wrote does not, even if its first evidence was from outside.
 */
export async function findOutside(
  db: Queryable,
  tenantId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const { rows } = await db.query<{ id: string }>(
    `SELECT c.id FROM memory_chunks c
      WHERE c.tenant_id = $1 AND c.id = ANY($2::uuid[]) AND (c.trust = 'untrusted' OR c.role <> 'user')
     UNION
     SELECT i.id FROM memory_items i
      WHERE i.tenant_id = $1 AND i.id = ANY($2::uuid[]) AND (i.trust = 'untrusted' OR i.author <> 'person' AND EXISTS (
        SELECT FROM memory_evidence v LEFT JOIN memory_chunks c ON c.tenant_id = v.tenant_id AND c.id = v.chunk_id
         WHERE v.tenant_id = i.tenant_id AND v.item_id = i.id AND (v.trust = 'untrusted' OR c.role <> 'user')))`,
    [tenantId, ids],
  );
  return new Set(rows.map(({ id }) => id));
}
