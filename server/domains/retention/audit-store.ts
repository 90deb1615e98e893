import type { ClientBase } from 'pg';

/** The maximum number of entries that one statement deletes. */
const BATCH = 5_000;

/** Deletes one batch of the audit log's entries from before `cutoff` (ms since the epoch). Returns how many. */
export async function deleteAuditEntries(client: ClientBase, cutoff: number): Promise<number> {
  const { rowCount } = await client.query(
    `DELETE FROM audit_entries WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM audit_entries WHERE at < to_timestamp($1::float8 / 1000) LIMIT ${BATCH}))`,
    [cutoff],
  );
  return rowCount ?? 0;
}

/** Returns how many entries are older than `cutoff`. */
export async function countAuditEntries(client: ClientBase, cutoff: number): Promise<number> {
  const { rows } = await client.query<{ count: string }>(
    'SELECT count(*) FROM audit_entries WHERE at < to_timestamp($1::float8 / 1000)',
    [cutoff],
  );
  return Number(rows[0]?.count);
}
