import type { Day } from '../../orchestrator/ports/spending.ts';
import type { Queryable } from '../../platform/postgres/transaction.ts';

export type ChatSettingsRow = {
  daily_microcredits: number | null;
  retention_days: number | null;
  assistant_model: string | null;
  autopilot_model: string | null;
  extraction_model: string | null;
};

const NO_SETTINGS: ChatSettingsRow = {
  daily_microcredits: null,
  retention_days: null,
  assistant_model: null,
  autopilot_model: null,
  extraction_model: null,
};

/** Returns the settings of the workspace. A null field is not set. */
export async function readSettings(pool: Queryable, tenantId: string): Promise<ChatSettingsRow> {
  const { rows } = await pool.query<ChatSettingsRow>({
    name: 'chat_read_settings',
    text: `SELECT daily_microcredits::float8 AS daily_microcredits, retention_days, assistant_model, autopilot_model, extraction_model
             FROM chat_settings WHERE tenant_id = $1`,
    values: [tenantId],
  });
  return rows[0] ?? NO_SETTINGS;
}

/** Replaces the given settings. Null resets a setting. */
export async function saveSettings(
  db: Queryable,
  tenantId: string,
  changes: Partial<ChatSettingsRow>,
  { by, at }: { by: string; at: Date },
): Promise<void> {
  await db.query(
    `INSERT INTO chat_settings AS s (tenant_id, daily_microcredits, retention_days, assistant_model, autopilot_model, extraction_model,
       updated_by, updated_at)
     SELECT $1, c.daily_microcredits, c.retention_days, c.assistant_model, c.autopilot_model, c.extraction_model, $3, $4
     FROM jsonb_to_record($2::jsonb) c(daily_microcredits bigint, retention_days int, assistant_model text, autopilot_model text,
       extraction_model text)
     ON CONFLICT (tenant_id) DO UPDATE SET
       daily_microcredits = CASE WHEN $2::jsonb ? 'daily_microcredits' THEN excluded.daily_microcredits ELSE s.daily_microcredits END,
       retention_days = CASE WHEN $2::jsonb ? 'retention_days' THEN excluded.retention_days ELSE s.retention_days END,
       assistant_model = CASE WHEN $2::jsonb ? 'assistant_model' THEN excluded.assistant_model ELSE s.assistant_model END,
       autopilot_model = CASE WHEN $2::jsonb ? 'autopilot_model' THEN excluded.autopilot_model ELSE s.autopilot_model END,
       extraction_model = CASE WHEN $2::jsonb ? 'extraction_model' THEN excluded.extraction_model ELSE s.extraction_model END,
       updated_by = excluded.updated_by, updated_at = excluded.updated_at`,
    [tenantId, JSON.stringify(changes), by, at],
  );
}

/** Returns the charges so far, in microcredits, of the answers and trials that a person started on a day. */
export async function spentOn(
  pool: Queryable,
  { tenantId, userId }: { tenantId: string; userId: string },
  { from, to }: Day,
): Promise<number> {
  const { rows } = await pool.query<{ spent: number }>({
    name: 'chat_spent_on',
    text: `SELECT coalesce(sum(credits_microcredits), 0)::float8 AS spent FROM runs
            WHERE tenant_id = $1 AND spender_id = $2 AND started_at >= $3 AND started_at < $4`,
    values: [tenantId, userId, new Date(from), new Date(to)],
  });
  return rows[0]?.spent ?? 0;
}
