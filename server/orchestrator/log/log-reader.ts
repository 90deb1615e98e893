import type { Pool } from 'pg';
import { type LoggedRun, readRuns } from './read.ts';

/** What the leader reads of the log and its projections; never limited to a tenant. */
export type LogReader = {
  /** Whole runs, payloads in place, for folding; those that do not exist are absent. The caller bounds `runIds`. */
  readRuns(runIds: readonly string[]): Promise<Map<string, LoggedRun>>;
  /** How many runs of each tenant have not ended. */
  countActiveRuns(): Promise<Map<string, number>>;
  /** A page of the runs that have work to do now, newest first, those before `before` only. */
  movingRuns(before: string | null, limit: number): Promise<string[]>;
  /** The runs that only wait for people, with a timeout: its time in ms since the epoch. */
  wakes(): Promise<{ runId: string; dueAt: number }[]>;
};

/** How many runs have not ended, by status; from the index of those alone. */
export async function countActiveByStatus(pool: Pool): Promise<Map<string, number>> {
  const { rows } = await pool.query<{ status: string; count: number }>(
    'SELECT status, count(*)::int AS count FROM runs WHERE ended_at IS NULL GROUP BY status',
  );
  return new Map(rows.map(({ status, count }) => [status, count]));
}

/** Reads from PostgreSQL; every question is answered by an index of the runs that have not ended. */
export function createLogReader(pool: Pool): LogReader {
  return {
    readRuns: runIds => readRuns(pool, runIds),
    async countActiveRuns() {
      const { rows } = await pool.query<{ tenant_id: string; count: number }>(
        'SELECT tenant_id, count(*)::int AS count FROM runs WHERE ended_at IS NULL GROUP BY tenant_id',
      );
      return new Map(rows.map(({ tenant_id, count }) => [tenant_id, count]));
    },
    async movingRuns(before, limit) {
      const { rows } = await pool.query<{ id: string }>(
        `SELECT id FROM runs
         WHERE ended_at IS NULL AND orchestration_phase NOT IN ('blocked', 'paused') AND ($1::uuid IS NULL OR id < $1)
         ORDER BY id DESC LIMIT $2`,
        [before, limit],
      );
      return rows.map(({ id }) => id);
    },
    async wakes() {
      const { rows } = await pool.query<{ id: string; next_timer_at: Date }>(
        `SELECT id, next_timer_at FROM runs
         WHERE ended_at IS NULL AND next_timer_at IS NOT NULL AND orchestration_phase = 'blocked'`,
      );
      return rows.map(({ id, next_timer_at }) => ({ runId: id, dueAt: next_timer_at.getTime() }));
    },
  };
}
