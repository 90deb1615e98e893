import type { Pool } from 'pg';

/** Returns those of the runs that answer messages of private threads of other people. */
export async function listUnreadable(
  pool: Pool,
  { tenantId, userId }: { tenantId: string; userId: string },
  runIds: readonly string[],
): Promise<string[]> {
  const { rows } = await pool.query<{ run_id: string }>({
    name: 'list_unreadable_runs',
    text: `SELECT m.run_id FROM chat_messages m JOIN chat_threads t ON t.id = m.thread_id AND t.tenant_id = m.tenant_id
            WHERE m.run_id = ANY($1::uuid[]) AND m.tenant_id = $2 AND t.visibility = 'private' AND t.owner_id <> $3`,
    values: [runIds, tenantId, userId],
  });
  return rows.map(({ run_id }) => run_id);
}
