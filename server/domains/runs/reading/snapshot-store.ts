import type { Pool } from 'pg';
import {
  ADDED_COUNTS,
  type AddedCounts,
  CHILD_RUN,
  ENDS,
  IS_ADDED,
  PARENT,
  type ParentRow,
  RUN_COLUMNS,
  type RunRow,
  type RunScope,
} from '../store.ts';
import { type StoredEvent, toFoldedEvent } from './folded-event.ts';
import type { FoldedEvent } from './run-state.ts';

/** SQL: the ids of the steps whose results were given with the start of a run. */
const SEEDED = `(SELECT json_agg(key) FROM json_object_keys(coalesce(data->'seed_results', (
  SELECT p.body FROM run_payloads p
   WHERE p.run_id = expanded_run_events.run_id AND p.id = (data->'seed_results_ref'->>'payload_id')::uuid), '{}')) key)`;
/**
 * SQL: the part of an event's data on which the state depends. `ofStart` is that part for the event that starts a run.
 */
const dataOf = (ofStart: string) => `CASE
  WHEN event_type = 'run_started' THEN ${ofStart}
  WHEN event_type IN ('step_started', 'step_expanded', 'steps_added') THEN NULL
  WHEN event_type = 'step_completed' AND data->'credits' IS NULL AND data->'skipped' IS NULL THEN NULL
  WHEN event_type = 'child_called' THEN ${CHILD_RUN}
  WHEN event_type = 'task_completed' THEN json_strip_nulls(json_build_object('decision', data->'decision'))
  WHEN event_type = 'task_pending' THEN json_build_object('name', data->'name')
  ELSE json_strip_nulls(json_build_object(
    'to', data->'to', 'error', data->'error', 'reason', data->'reason', 'skipped', data->'skipped',
    'credits', data->'credits', 'until', data->'until', 'delay_ms', data->'delay_ms', 'continues', data->'continues'))
END`;
/** SQL: like `dataOf`, for the rows of `expanded_run_events`. */
export const EVENT_DATA = dataOf(`CASE WHEN data->>'mode' = 'episode' THEN json_build_object('reused', ${SEEDED}) END`);
/** Two nested loops may have 10,000 open added steps, limited by their `concurrency`. */
const MAX_OPEN_ADDED = 1_000;
/** One agent adds fewer steps than this: 201 turns, and 1,000 calls with an approval each. */
const MAX_AGENT_STEPS = 2_500;

export type RunToFold = {
  run: RunRow;
  parent: ParentRow | null;
  events: FoldedEvent[];
  added: AddedCounts;
  lastSeq: number;
};

/**
 * Returns the run, the events of its authored steps and of the added steps that are open, as of one instant, without
 * logs and without the values that it processes (input, results, texts of tasks). `lastSeq` is the last number in the
 * log. Null if the run does not belong to this tenant, project and workflow.
 */
export async function findRunToFold(pool: Pool, scope: RunScope): Promise<RunToFold | null> {
  type Folded = { log_seq: number; log_events: StoredEvent[]; added: AddedCounts; parent: ParentRow | null };
  const { rows } = await pool.query<RunRow & Folded>(
    `SELECT ${RUN_COLUMNS}, ${PARENT}, w.name AS workflow_name, e.log_seq, e.log_events, e.added
       FROM runs r JOIN workflows w ON w.id = r.workflow_id
       CROSS JOIN LATERAL (
         SELECT coalesce(array_agg(step_id), '{}') AS ids FROM (
           SELECT step_id FROM run_events
            WHERE run_id = r.id AND r.ended_at IS NULL AND ${IS_ADDED}
            GROUP BY step_id HAVING NOT bool_or(event_type IN ${ENDS}) LIMIT ${MAX_OPEN_ADDED}) each) open
       CROSS JOIN LATERAL (
         SELECT coalesce(max(seq), 0) AS log_seq,
                coalesce(json_agg(json_build_array(seq, event_type, step_id, attempt,
                  (extract(epoch FROM created_at) * 1000)::bigint,
                  ${EVENT_DATA}) ORDER BY seq) FILTER (WHERE event_type <> 'step_log' AND (NOT ${IS_ADDED} OR step_id = ANY(open.ids))), '[]')
                  AS log_events,
                ${ADDED_COUNTS} AS added
           FROM expanded_run_events WHERE run_id = r.id) e
      WHERE r.id = $1 AND r.tenant_id = $2 AND r.project_id = $3 AND r.workflow_id = $4`,
    [scope.runId, scope.tenantId, scope.projectId, scope.workflowId],
  );
  const row = rows[0];
  if (row === undefined) return null;
  const { log_seq, log_events, added, parent, ...run } = row;
  return { run, parent, events: log_events.map(toFoldedEvent), added, lastSeq: Math.max(log_seq, run.last_seq) };
}

/**
 * Returns the events up to `lastSeq` of the steps that `agents` of the graph added to a run, like `findRunToFold`,
 * oldest first. Only the last 2,500 steps that have started are included.
 */
export async function findAgentEvents(
  pool: Pool,
  { tenantId, runId }: Pick<RunScope, 'tenantId' | 'runId'>,
  { agents, lastSeq }: { agents: readonly string[]; lastSeq: number },
): Promise<FoldedEvent[]> {
  const { rows } = await pool.query<{ event: StoredEvent }>(
    `WITH mine AS (
       SELECT seq, event_type, step_id, attempt, created_at, data FROM expanded_run_events
        WHERE run_id = (SELECT id FROM runs WHERE id = $1 AND tenant_id = $2) AND seq <= $3 AND event_type <> 'step_log' AND split_part(step_id, '.', 1) = ANY($4)
          AND (${IS_ADDED} OR event_type = 'steps_added')),
     shown AS (
       SELECT CASE WHEN count(*) < ${MAX_AGENT_STEPS} THEN 0 ELSE min(began) END AS since FROM (
         SELECT min(seq) AS began FROM mine WHERE ${IS_ADDED} GROUP BY step_id ORDER BY 1 DESC LIMIT ${MAX_AGENT_STEPS}) each)
     SELECT json_build_array(seq, event_type, step_id, attempt, (extract(epoch FROM created_at) * 1000)::bigint,
              CASE event_type WHEN 'steps_added' THEN json_build_object('steps', data->'steps') ELSE ${dataOf('NULL')} END) AS event
       FROM mine WHERE seq >= (SELECT since FROM shown) ORDER BY seq`,
    [runId, tenantId, lastSeq, agents],
  );
  return rows.map(({ event }) => toFoldedEvent(event));
}
