import type { Queryable } from '../../../platform/postgres/transaction.ts';
import type { ProposalAt } from './store.ts';

export type RunRounds = { rounds: number; asked_at: Date | null };
type Run = { tenantId: string; runId: string };

/** Returns how many answers in succession have left errors to the agent of the run; null if none was counted. */
export async function findRunRounds(db: Queryable, { tenantId, runId }: Run): Promise<RunRounds | null> {
  const { rows } = await db.query<RunRounds>(
    'SELECT rounds, asked_at FROM autopilot_rounds WHERE run_id = $1 AND tenant_id = $2',
    [runId, tenantId],
  );
  return rows[0] ?? null;
}

/** Counts one answer more, and notes when the `max`th one tells the agent to ask a person. Returns the count. */
export async function addRunRound(
  db: Queryable,
  { tenantId, runId }: Run,
  { max, at }: { max: number; at: Date },
): Promise<number> {
  const { rows } = await db.query<{ rounds: number }>(
    `INSERT INTO autopilot_rounds AS r (run_id, tenant_id, rounds, asked_at, updated_at)
     VALUES ($1, $2, 1, CASE WHEN $3 <= 1 THEN $4::timestamptz END, $4)
     ON CONFLICT (run_id) DO UPDATE
       SET rounds = r.rounds + 1, asked_at = CASE WHEN r.rounds + 1 >= $3 THEN coalesce(r.asked_at, $4) END, updated_at = $4
     RETURNING rounds`,
    [runId, tenantId, max, at],
  );
  return rows[0]?.rounds ?? 0;
}

/** Begins to count from nothing again. */
export async function resetRunRounds(db: Queryable, { tenantId, runId }: Run, at: Date): Promise<void> {
  await db.query(
    'UPDATE autopilot_rounds SET rounds = 0, asked_at = NULL, updated_at = $3 WHERE run_id = $1 AND tenant_id = $2',
    [runId, tenantId, at],
  );
}

/** Whether a person has answered a question or an approval of the run since then. */
export async function hasAnswered(db: Queryable, { tenantId, runId }: Run, since: Date): Promise<boolean> {
  const { rowCount } = await db.query(
    `SELECT FROM human_tasks WHERE run_id = $1 AND tenant_id = $2 AND completed_by IS NOT NULL AND completed_at >= $3 LIMIT 1`,
    [runId, tenantId, since],
  );
  return rowCount !== 0;
}

/** Counts a refused edit of a proposal; its contents, and so its ETag, stay. `rounds`: the count before, which a person's answer ends. */
export async function addProposalRound(
  db: Queryable,
  { tenantId, projectId, id, at }: Omit<ProposalAt, 'revision'>,
  { isAnswered, max }: { isAnswered: boolean; max: number },
): Promise<void> {
  await db.query(
    `UPDATE autopilot_proposals
        SET rounds = CASE WHEN $4 THEN 1 ELSE rounds + 1 END, updated_at = $6,
            status = CASE WHEN CASE WHEN $4 THEN 1 ELSE rounds + 1 END >= $5 THEN 'needs_input' ELSE status END
      WHERE id = $1 AND tenant_id = $2 AND project_id = $3 AND status IN ('building', 'ready', 'needs_input')`,
    [id, tenantId, projectId, isAnswered, max, at],
  );
}
