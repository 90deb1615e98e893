import type { Pool } from 'pg';
import type { UsageAction } from '../orchestrator/log/index.ts';
import { newId } from '../platform/ids.ts';

export type TestUsage = {
  tenantId: string;
  projectId: string;
  workflowId: string;
  action: UsageAction;
  at: number;
  quantity?: number;
  microcredits?: number;
  stepType?: string;
  subject?: string;
  outcome?: string;
  /** The durations of ended runs in ms, as many as the quantity. */
  durations?: number[];
};

/** Writes rows of usage like the engine's commits, in the given order. */
export async function insertUsage(pool: Pick<Pool, 'query'>, rows: readonly TestUsage[]): Promise<void> {
  const column = (pick: (row: TestUsage) => unknown) => rows.map(pick);
  await pool.query(
    `INSERT INTO run_usage (id, tenant_id, project_id, workflow_id, action, quantity, microcredits, attempts, created_at, step_type,
                            subject, outcome)
     SELECT id, tenant_id, project_id, workflow_id, action, quantity, microcredits, attempts::json, to_timestamp(at / 1000), step_type,
            subject, outcome
     FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::uuid[], $5::text[], $6::int8[], $7::int8[], $8::text[], $9::float8[],
                 $10::text[], $11::text[], $12::text[])
       AS v(id, tenant_id, project_id, workflow_id, action, quantity, microcredits, attempts, at, step_type, subject, outcome)`,
    [
      column(() => newId()),
      column(row => row.tenantId),
      column(row => row.projectId),
      column(row => row.workflowId),
      column(row => row.action),
      column(row => row.durations?.length ?? row.quantity ?? 1),
      column(row => row.microcredits ?? 0),
      column(row => JSON.stringify((row.durations ?? []).map(ms => [newId(), ms]))),
      column(row => row.at),
      column(row => row.stepType ?? ''),
      column(row => row.subject ?? ''),
      column(row => row.outcome ?? ''),
    ],
  );
}

/** Returns all rollups in a fixed order, for comparisons. */
export async function readAllRollups(pool: Pick<Pool, 'query'>): Promise<Record<string, unknown[]>> {
  const tables = ['analytics_totals', 'analytics_triggers', 'analytics_steps', 'analytics_durations', 'usage_sums'];
  const found: Record<string, unknown[]> = {};
  for (const table of tables) {
    const { rows } = await pool.query(
      `SELECT to_jsonb(t) - 'digest' AS row FROM ${table} t ORDER BY to_jsonb(t)::text`,
    );
    found[table] = rows.map(({ row }) => row);
  }
  return found;
}
