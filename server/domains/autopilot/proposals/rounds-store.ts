import type { Queryable } from '../../../platform/postgres/transaction.ts';
import type { ProposalAt } from './store.ts';

export type RunRounds = { rounds: number; asked_at: Date | null };
type Run = { tenantId: string; runId: string };

/** Returns the number of consecutive answers with errors in the run of an agent; null if no answer was counted. */
export async function findRunRounds(db: Queryable, { tenantId, runId }: Run): Promise<RunRounds | null> {
  const { rows } = await db.query<RunRounds>(
    'SELECT rounds, asked_at FROM autopilot_rounds WHERE run_id = $1 AND tenant_id = $2',
    [runId, tenantId],
  );
  return rows[0] ?? null;
}

/** Increments the count and returns it. When the count reaches `max`, records the time at which the agent must ask a person. */
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

/** Resets the count to 0. */
export async function resetRunRounds(db: Queryable, { tenantId, runId }: Run, at: Date): Promise<void> {
  await db.query(
    'UPDATE autopilot_rounds SET rounds = 0, asked_at = NULL, updated_at = $3 WHERE run_id = $1 AND tenant_id = $2',
    [runId, tenantId, at],
  );
}

/** Returns whether a person has answered a question or an approval of the run since `since`. */
export async function hasAnswered(db: Queryable, { tenantId, runId }: Run, since: Date): Promise<boolean> {
  const { rowCount } = await db.query(
    `SELECT FROM human_tasks WHERE run_id = $1 AND tenant_id = $2 AND completed_by IS NOT NULL AND completed_at >= $3 LIMIT 1`,
    [runId, tenantId, since],
  );
  return rowCount !== 0;
}

/** Counts a refused edit of a proposal, without changing its ETag. `isAnswered`: a person has answered, so that the count restarts at 1. */
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
