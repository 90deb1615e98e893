import type { Pool } from 'pg';
import type { RunError, RunStatus } from '../core/index.ts';
import { amongShards, type Shards } from '../shards/slot.ts';
import { type ReadOptions, type RunsRead, readPayloadTexts, readRunsToFold } from './read-to-fold.ts';

/** The numbers of runs that have not ended. */
export type ActiveRunCounts = { byTenant: Map<string, number>; byStatus: Map<string, number> };

/**
 * A run that a step called. `spent`: the recorded cost of the run and of those that it called, in microcredits; for
 * runs whose cost was never reported, their budgets.
 */
export type ChildRow = {
  runId: string;
  parentRunId: string;
  status: RunStatus;
  error: RunError | null;
  spent: number;
};

/** The number of runs that were started beneath a run, and the number of these that have not ended. */
export type DescendantCounts = { started: number; active: number };

/** The leader's reads of the log and its projections, for all workspaces of the given shards. */
export type LogReader = {
  /** Reads whole runs for folding; large results stay in the log. The caller limits the number of `runIds`. */
  readRuns(runIds: readonly string[], options: ReadOptions): Promise<RunsRead>;
  /** Returns the JSON texts of large results of a run; those that the log does not have are absent. */
  readStored(runId: string, ids: readonly string[]): Promise<Map<string, string>>;
  countActiveRuns(shards: Shards): Promise<ActiveRunCounts>;
  countDescendants(root: string): Promise<DescendantCounts>;
  /** Returns a page of the runs that have work to do now, newest first, starting below the id `before`. */
  movingRuns(shards: Shards, before: string | null, limit: number): Promise<string[]>;
  /** Returns the timers of the runs that only wait. */
  wakeUpTimers(shards: Shards): Promise<WakeUpTimer[]>;
  /** Returns the rows of those runs that exist. `parentRunId` is empty for a run that no step called. */
  childRuns(runIds: readonly string[]): Promise<ChildRow[]>;
  /**
   * Returns a page of the runs that have ended or only wait while runs that they called are active: they may have to
   * stop those runs. Newest first, starting below the id `before`.
   */
  idleCallers(shards: Shards, before: string | null, limit: number): Promise<string[]>;
};

/** The wake-up time of a run, in ms since the epoch; null if its row has an invalid time, such as `infinity`. */
export type WakeUpTimer = { runId: string; tenantId: string; dueAt: number | null };

/** Reads `next_timer_at` as the driver returns it: a Date, which may be invalid, or a number for `infinity`. */
export function toWakeUpTimer(row: { id: string; tenant_id: string; next_timer_at: unknown }): WakeUpTimer {
  const at = row.next_timer_at instanceof Date ? row.next_timer_at.getTime() : Number.NaN;
  return { runId: row.id, tenantId: row.tenant_id, dueAt: Number.isFinite(at) ? at : null };
}

/** Reads from PostgreSQL. An index on the runs that have not ended serves every query. */
export function createLogReader(pool: Pool): LogReader {
  return {
    readRuns: (runIds, options) => readRunsToFold(pool, runIds, options),
    readStored: (runId, ids) =>
      readPayloadTexts(
        pool,
        ids.map(id => ({ runId, id })),
      ),
    async countActiveRuns(shards) {
      const among = amongShards('tenant_id', shards, 0);
      const { rows } = await pool.query<{ tenant_id: string; status: string; count: number }>(
        `SELECT tenant_id, status, count(*)::int AS count FROM runs
         WHERE ended_at IS NULL${among.sql} GROUP BY tenant_id, status`,
        among.values,
      );
      const counts: ActiveRunCounts = { byTenant: new Map(), byStatus: new Map() };
      for (const { tenant_id, status, count } of rows) {
        counts.byTenant.set(tenant_id, (counts.byTenant.get(tenant_id) ?? 0) + count);
        counts.byStatus.set(status, (counts.byStatus.get(status) ?? 0) + count);
      }
      return counts;
    },
    async countDescendants(root) {
      const { rows } = await pool.query<DescendantCounts>({
        name: 'log_count_descendants',
        text: `SELECT count(*)::int AS started, count(r.id)::int AS active FROM run_descendants d
               LEFT JOIN runs r ON r.id = d.run_id AND r.ended_at IS NULL WHERE d.root_run_id = $1`,
        values: [root],
      });
      return rows[0] ?? { started: 0, active: 0 };
    },
    async movingRuns(shards, before, limit) {
      const among = amongShards('tenant_id', shards, 2);
      const { rows } = await pool.query<{ id: string }>(
        `SELECT id FROM runs
         WHERE ended_at IS NULL AND orchestration_phase NOT IN ('blocked', 'paused') AND ($1::uuid IS NULL OR id < $1)${among.sql}
         ORDER BY id DESC LIMIT $2`,
        [before, limit, ...among.values],
      );
      return rows.map(({ id }) => id);
    },
    async wakeUpTimers(shards) {
      const among = amongShards('tenant_id', shards, 0);
      const { rows } = await pool.query<{ id: string; tenant_id: string; next_timer_at: unknown }>(
        `SELECT id, tenant_id, next_timer_at FROM runs
         WHERE ended_at IS NULL AND next_timer_at IS NOT NULL AND orchestration_phase = 'blocked'${among.sql}`,
        among.values,
      );
      return rows.map(toWakeUpTimer);
    },
    async childRuns(runIds) {
      const { rows } = await pool.query<{
        id: string;
        parent: string | null;
        status: RunStatus;
        error: RunError | null;
        spent: string;
      }>({
        name: 'log_child_runs',
        text: `SELECT r.id, r.status, r.error, c.parent_run_id AS parent,
                 r.credits_microcredits + coalesce((SELECT sum((e.data->>'spent')::bigint) FROM run_events e
                   WHERE e.run_id = r.id AND e.event_type = 'child_ended' AND r.ended_at IS NOT NULL), 0)
                 + coalesce((SELECT sum((e.data->>'budget')::bigint) FROM run_events e
                   WHERE e.run_id = r.id AND e.event_type = 'child_called' AND r.ended_at IS NOT NULL
                     AND NOT EXISTS (SELECT FROM run_events o WHERE o.run_id = e.run_id AND o.event_type = 'child_ended'
                       AND o.data->>'run_id' = e.data->>'run_id')), 0) AS spent
               FROM runs r LEFT JOIN child_runs c ON c.run_id = r.id WHERE r.id = ANY($1::uuid[])`,
        values: [runIds],
      });
      return rows.map(({ id, parent, status, error, spent }) => ({
        runId: id,
        parentRunId: parent ?? '',
        status,
        error,
        spent: Number(spent),
      }));
    },
    async idleCallers(shards, before, limit) {
      const among = amongShards('r.tenant_id', shards, 2);
      const { rows } = await pool.query<{ id: string }>(
        `SELECT DISTINCT c.parent_run_id AS id
         FROM runs r JOIN child_runs c ON c.run_id = r.id AND NOT c.detached JOIN runs p ON p.id = c.parent_run_id
         WHERE r.ended_at IS NULL AND (p.ended_at IS NOT NULL OR p.orchestration_phase IN ('blocked', 'paused'))
           AND ($1::uuid IS NULL OR c.parent_run_id < $1)${among.sql}
         ORDER BY id DESC LIMIT $2`,
        [before, limit, ...among.values],
      );
      return rows.map(({ id }) => id);
    },
  };
}
