import type { Pool } from 'pg';
import type { JsonMap } from '../../../orchestrator/core/index.ts';
import type { StoredEvent } from '../../../orchestrator/log/decode.ts';

/**
 * Returns the events from which the prompt of a step under an agent was made: the start of the run, the events of the
 * steps `around` (the agent, and the loops around it), and the events of the steps under the agent, up to the start of
 * the step's last attempt. Empty if the step never started.
 */
export async function listEventsBefore(
  pool: Pool,
  run: { tenantId: string; runId: string },
  { step, agent, around }: { step: string; agent: string; around: readonly string[] },
): Promise<(StoredEvent & { data: JsonMap })[]> {
  const { rows } = await pool.query<StoredEvent>(
    `SELECT e.seq, e.event_type, e.step_id, e.attempt, e.data, e.created_at
       FROM expanded_run_events e
      WHERE e.run_id = (SELECT id FROM runs WHERE id = $1 AND tenant_id = $2) AND e.event_type NOT IN ('step_log', 'state_changed')
        AND (e.step_id IS NULL OR e.step_id = ANY($4) OR starts_with(e.step_id, $5))
        AND e.seq <= (SELECT max(seq) FROM run_events WHERE run_id = $1 AND step_id = $3 AND event_type = 'step_started')
      ORDER BY e.seq`,
    [run.runId, run.tenantId, step, around, `${agent}.`],
  );
  return rows;
}

/** Returns the limit because of which a turn was the closing one; null for any other turn. */
export async function findClosingLimit(
  pool: Pool,
  run: { tenantId: string; runId: string },
  step: string,
): Promise<string | null> {
  const { rows } = await pool.query<{ closing: string | null }>(
    `SELECT e.data->'turn'->>'limit' AS closing FROM run_events e
      WHERE e.run_id = (SELECT id FROM runs WHERE id = $1 AND tenant_id = $2)
        AND e.step_id = $3 AND e.event_type = 'step_completed'`,
    [run.runId, run.tenantId, step],
  );
  return rows[0]?.closing ?? null;
}
