import type { Pool } from 'pg';
import { pino } from 'pino';
import { ManualClock } from '../platform/clock.ts';
import { ensurePartitions } from '../platform/postgres/partitions.ts';

export const SCALE = {
  tenant: 'acme',
  projects: ['01900000-0000-7000-8000-00000000a001', '01900000-0000-7000-8000-00000000a002'],
  /** The first workflow has most of the runs, and no failed ones. */
  workflows: Array.from({ length: 10 }, (_, n) => `01900000-0000-7000-8000-0000000000${10 + n}`),
  from: Date.UTC(2026, 0, 1),
  to: Date.UTC(2026, 11, 1),
} as const;

/**
 * Generates eleven months of one busy workspace and some others, within the database server: `runs` runs with
 * `events` events each, tasks, payloads and usage. 1 in 500 has not ended; there are old imports, one session per ten
 * runs, and one schedule per hundred.
 */
export async function generateHistory(pool: Pool, size: { runs: number; events: number }): Promise<void> {
  const logger = pino({ level: 'silent' });
  for (let month = 0; month < 12; month += 3) {
    await ensurePartitions(pool, new ManualClock(Date.UTC(2026, month, 2)), logger);
  }
  const client = await pool.connect();
  try {
    await client.query(`SET statement_timeout = 0; SET synchronous_commit = off; SET timezone = 'UTC'`);
    await client.query(
      `INSERT INTO workflows (id, tenant_id, project_id, name, description, status, graph, run_setup, revision, graph_checksum,
                              created_by, created_at, updated_at)
       SELECT w, $1, ($2::uuid[])[1 + (n - 1) % 2], 'Workflow ' || n, '', 'published', '{"steps":[]}', '{}', 1, '', w,
              to_timestamp(0), to_timestamp(0) FROM unnest($3::uuid[]) WITH ORDINALITY AS u(w, n)`,
      [SCALE.tenant, SCALE.projects, SCALE.workflows],
    );
    await client.query(runs, [
      size.runs,
      size.events,
      SCALE.tenant,
      SCALE.projects,
      SCALE.workflows,
      SCALE.from,
      SCALE.to,
    ]);
    for (const sql of [events, payloads, tasks, usage]) await client.query(sql);
    await client.query('ANALYZE');
  } finally {
    client.release(true);
  }
}

/** The workflow's number decides its project; seven in ten runs are of the first workflow. */
const runs = `
  INSERT INTO runs (id, tenant_id, project_id, workflow_id, version, status, orchestration_phase, session_id, trigger_type,
                    started_by, started_at, ended_at, steps_total, steps_done, pending_tasks, last_seq)
  SELECT id, CASE WHEN n % 10 = 9 THEN 'tenant-' || n % 50 ELSE $3 END, ($4::uuid[])[1 + w % 2], ($5::uuid[])[1 + w], 1,
         CASE WHEN live THEN 'running' WHEN w > 0 AND n / 10 % 25 = 0 THEN 'failed' WHEN w > 0 AND n / 10 % 50 = 1 THEN 'stopped'
              ELSE 'completed' END,
         CASE WHEN live THEN 'blocked' ELSE 'complete' END,
         CASE WHEN n % 10 = 3 THEN 'customer-' || n / 100 ELSE id::text END,
         CASE WHEN n < $1 / 20 THEN 'import-legacy' WHEN n % 100 = 0 THEN 'schedule' WHEN n % 7 = 0 THEN 'webhook' ELSE 'api' END,
         'ann', at, CASE WHEN live THEN NULL ELSE at + interval '1 minute' END, 5, 5, CASE WHEN live THEN 1 ELSE 0 END, $2
  FROM (SELECT n, at, n % 500 = 250 AS live, CASE WHEN n % 10 < 7 THEN 0 ELSE 1 + n % 9 END AS w,
               (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8'
                || substr(md5(n::text), 4, 15))::uuid AS id
        FROM (SELECT n, to_timestamp(($6::float8 + ($7::float8 - $6::float8) * n / ($1 + 1)) / 1000)::timestamptz(3) AS at
              FROM generate_series(1, $1::int) n) dated) made`;

const events = `
  INSERT INTO run_events (run_id, seq, event_type, step_id, attempt, data, created_at)
  SELECT id, seq, CASE seq WHEN 1 THEN 'run_started' ELSE 'step_completed' END, CASE seq WHEN 1 THEN NULL ELSE 'step_' || seq END,
         1, '{"result":{"value":true,"branch":"then"},"duration_ms":3}', started_at
  FROM runs CROSS JOIN LATERAL generate_series(1, last_seq) seq`;

const payloads = `
  INSERT INTO run_payloads (id, run_id, body, created_at)
  SELECT gen_random_uuid(), id, to_json(repeat('x', 500)), started_at FROM runs WHERE last_seq > 1 AND id::text LIKE '%7'`;

const tasks = `
  INSERT INTO human_tasks (run_id, step_id, tenant_id, project_id, workflow_id, name, instructions, assignees, state, created_at,
                           completed_at)
  SELECT id, 'approve', tenant_id, project_id, workflow_id, 'Approve', 'Please', ARRAY['ann@example.com'],
         CASE WHEN ended_at IS NULL THEN 'pending' ELSE 'completed' END, started_at, ended_at
  FROM runs WHERE ended_at IS NULL OR id::text LIKE '%3'`;

const usage = `
  INSERT INTO run_usage (id, tenant_id, project_id, workflow_id, action, quantity, attempts, created_at)
  SELECT id, tenant_id, project_id, workflow_id, 'workflow_step', 5, '[]', started_at FROM runs`;
