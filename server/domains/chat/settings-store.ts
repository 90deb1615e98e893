import type { Queryable } from '../../platform/postgres/transaction.ts';

export type ChatSettingsRow = { daily_microcredits: number | null; retention_days: number | null };

/** Returns what the workspace has decided; nulls where it has decided nothing. */
export async function readSettings(pool: Queryable, tenantId: string): Promise<ChatSettingsRow> {
  const { rows } = await pool.query<ChatSettingsRow>({
    name: 'chat_read_settings',
    text: 'SELECT daily_microcredits::float8 AS daily_microcredits, retention_days FROM chat_settings WHERE tenant_id = $1',
    values: [tenantId],
  });
  return rows[0] ?? { daily_microcredits: null, retention_days: null };
}

/** Replaces what is given; null takes a limit away. */
export async function saveSettings(
  db: Queryable,
  tenantId: string,
  changes: { daily_microcredits?: number | null; retention_days?: number | null },
  { by, at }: { by: string; at: Date },
): Promise<void> {
  await db.query(
    `INSERT INTO chat_settings (tenant_id, daily_microcredits, retention_days, updated_by, updated_at)
     VALUES ($1, $2, $3, $6, $7)
     ON CONFLICT (tenant_id) DO UPDATE SET
       daily_microcredits = CASE WHEN $4 THEN excluded.daily_microcredits ELSE chat_settings.daily_microcredits END,
       retention_days = CASE WHEN $5 THEN excluded.retention_days ELSE chat_settings.retention_days END,
       updated_by = excluded.updated_by, updated_at = excluded.updated_at`,
    [
      tenantId,
      changes.daily_microcredits ?? null,
      changes.retention_days ?? null,
      changes.daily_microcredits !== undefined,
      changes.retention_days !== undefined,
      by,
      at,
    ],
  );
}

/** Returns the microcredits that a person's answers since an instant have cost so far. */
export async function spentSince(
  pool: Queryable,
  { tenantId, userId }: { tenantId: string; userId: string },
  since: Date,
): Promise<number> {
  const { rows } = await pool.query<{ spent: number }>({
    name: 'chat_spent_since',
    text: `SELECT coalesce(sum(r.credits_microcredits), 0)::float8 AS spent
             FROM chat_messages m JOIN runs r ON r.id = m.run_id
            WHERE m.tenant_id = $1 AND m.sent_by = $2 AND m.created_at >= $3`,
    values: [tenantId, userId, since],
  });
  return rows[0]?.spent ?? 0;
}
