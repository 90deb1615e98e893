import type { Pool } from 'pg';
import { pino } from 'pino';
import { DAY_MS, ManualClock } from '../platform/clock.ts';
import { newId } from '../platform/ids.ts';
import { ensurePartitions } from '../platform/postgres/partitions.ts';

export const silent = pino({ level: 'silent' });

export const NOW = Date.UTC(2026, 10, 21, 12);
export const DAY = DAY_MS;

/** Creates partitions from August 2026 to January 2027. */
export async function makeMonths(pool: Pool): Promise<void> {
  for (const month of [7, 10]) await ensurePartitions(pool, new ManualClock(Date.UTC(2026, month, 10)), silent);
}

let counter = 0;

/** Returns a UUIDv7 with that time. */
export function idAt(at: number): string {
  const hex = at.toString(16).padStart(12, '0');
  const tail = (counter++).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7abc-8000-${tail}`;
}

export type PastRun = { id: string; endedAt: number | null; events?: number };

/** Writes runs with logs (the second event's value is stored externally) and a task each, like the engine would. */
export async function writeRuns(pool: Pool, runs: readonly PastRun[]): Promise<void> {
  const [project, workflow] = [newId(), newId()];
  for (const { id, endedAt, events = 3 } of runs) {
    await pool.query(
      `INSERT INTO runs (id, tenant_id, project_id, workflow_id, version, status, orchestration_phase, session_id, trigger_type,
                         started_by, started_at, ended_at, steps_total, steps_done, pending_tasks, last_seq)
       VALUES ($1, 'acme', $2, $3, 1, 'running', 'executing', 's', 'api', 'ann', to_timestamp($4::float8 / 1000),
               to_timestamp($5::float8 / 1000), 1, 0, 0, $6)`,
      [id, project, workflow, NOW - 100 * DAY, endedAt, events],
    );
    await pool.query(
      `INSERT INTO run_events SELECT $1, n, 'step_log', 'a', 1, json_build_object('n', n), to_timestamp(n)
       FROM generate_series(1, $2::int) n`,
      [id, events],
    );
    await pool.query(`INSERT INTO run_payloads VALUES ($1, $2, '"large"', to_timestamp(0))`, [newId(), id]);
    await pool.query(
      `INSERT INTO human_tasks (run_id, step_id, tenant_id, project_id, workflow_id, name, instructions, state, created_at)
       VALUES ($1, 'a', 'acme', $2, $3, 'n', 'i', 'completed', to_timestamp(0))`,
      [id, project, workflow],
    );
  }
}

/** Returns every row of some runs, in order, wherever it is stored. */
export async function contents(pool: Pool, ids: readonly string[]): Promise<unknown[]> {
  const all = [];
  for (const [table, key] of [
    ['runs', 'id'],
    ['human_tasks', 'run_id'],
    ['run_events', 'run_id'],
    ['run_payloads', 'run_id'],
  ]) {
    const { rows } = await pool.query(`SELECT t::text AS line FROM ${table} t WHERE ${key} = ANY($1) ORDER BY 1`, [
      ids,
    ]);
    all.push(rows.map(row => row.line));
  }
  return all;
}

/** Returns the names of all partitions, including DEFAULT. */
export async function partitionNames(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query('SELECT relname FROM pg_class WHERE relispartition AND relkind = $1 ORDER BY 1', [
    'r',
  ]);
  return rows.map(row => row.relname);
}
