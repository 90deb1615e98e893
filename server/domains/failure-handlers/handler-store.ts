import type { Pool } from 'pg';
import { type JsonMap, lineageOf, type ParentCall, type StartedBeneath } from '../../orchestrator/core/index.ts';
import { amongShards, type Shards } from '../../orchestrator/shards/slot.ts';
import { camelCased, type Stored } from '../../platform/postgres/rows.ts';
import type { ActsFor } from '../runs/start/step-scopes.ts';

/** A failed run and the workflow that handles it. */
export type DueHandler = {
  tenantId: string;
  projectId: string;
  /** The workflow to start. */
  workflowId: string;
  /** The number of attempts before this one. */
  attempts: number;
  failed: {
    runId: string;
    workflowId: string;
    workflowName: string;
    version: number;
    triggerType: string;
    startedBy: string;
    startedAt: Date;
    endedAt: Date;
    error: JsonMap | null;
    /** The scopes that the token that started the run lacked. */
    withheldScopes: readonly string[];
    /** The person for whom the run's agents acted. */
    actsFor: ActsFor | undefined;
    /** The position of the run below the runs that led to it. */
    lineage: { root: string; depth: number };
  };
};

type Row = Omit<DueHandler, 'workflowId' | 'failed'> &
  Stored<Omit<DueHandler['failed'], 'lineage'>, { withheldScopes: string[] | null; actsFor: ActsFor | null }> & {
    handlerId: string;
    parent: ParentCall | null;
    beneath: StartedBeneath | null;
  };

/**
 * Returns handlers of the workspaces in these shards whose attempt is due, longest overdue first. Removes handlers whose failed
 * run was deleted.
 */
export async function listDueHandlers(
  pool: Pool,
  now: number,
  { limit, shards }: { limit: number; shards: Shards },
): Promise<DueHandler[]> {
  const among = amongShards('tenant_id', shards, 2);
  const { rows } = await pool.query({
    text: `WITH due AS MATERIALIZED (
             SELECT * FROM failure_handlers WHERE next_attempt_at <= to_timestamp($1::float8 / 1000)${among.sql}
              ORDER BY next_attempt_at, run_id LIMIT $2),
           gone AS (
             DELETE FROM failure_handlers WHERE run_id IN (
               SELECT run_id FROM due WHERE NOT EXISTS (SELECT FROM runs r WHERE r.id = due.run_id)))
           SELECT d.tenant_id, d.project_id, d.workflow_id AS handler_id, d.attempts, r.id AS run_id, r.workflow_id,
                  w.name AS workflow_name, r.version, r.trigger_type, r.started_by, r.started_at, r.ended_at, r.error,
                  s.data->'withheld_scopes' AS withheld_scopes, s.data->'acts_for' AS acts_for,
                  s.data->'parent' AS parent, s.data->'beneath' AS beneath
             FROM due d JOIN runs r ON r.id = d.run_id JOIN workflows w ON w.id = r.workflow_id
             LEFT JOIN LATERAL (SELECT data FROM run_events e
               WHERE e.run_id = r.id AND e.event_type = 'run_started' ORDER BY e.seq LIMIT 1) s ON true
            ORDER BY d.next_attempt_at, d.run_id`,
    values: [now, limit, ...among.values],
    ...(shards === 'all' && { name: 'due_failure_handlers' }),
  });
  return camelCased<Row>(rows).map(({ tenantId, projectId, handlerId, attempts, parent, beneath, ...run }) => ({
    tenantId,
    projectId,
    workflowId: handlerId,
    attempts,
    failed: {
      ...run,
      withheldScopes: run.withheldScopes ?? [],
      actsFor: run.actsFor ?? undefined,
      lineage: lineageOf(run.runId, { parent: parent ?? undefined, beneath: beneath ?? undefined }),
    },
  }));
}

/** Removes a handler that has started, or was refused permanently. */
export async function removeHandler(pool: Pool, { tenantId, failed }: DueHandler): Promise<void> {
  await pool.query('DELETE FROM failure_handlers WHERE run_id = $1 AND tenant_id = $2', [failed.runId, tenantId]);
}

/** Counts an attempt; the next one is due at `at` (ms since the epoch). */
export async function postponeHandler(pool: Pool, { tenantId, failed }: DueHandler, at: number): Promise<void> {
  await pool.query(
    `UPDATE failure_handlers SET attempts = attempts + 1, next_attempt_at = to_timestamp($3::float8 / 1000)
      WHERE run_id = $1 AND tenant_id = $2`,
    [failed.runId, tenantId, at],
  );
}
