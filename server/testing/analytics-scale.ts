import type { Pool } from 'pg';
import { SCALE } from './run-scale.ts';

/**
 * Writes usage for the runs of `generateHistory` like the engine's commits would: the start and end of each run, its
 * steps, tool calls and tokens, all in one workspace. Every `together` runs of a workflow share a commit. Runs take 0.2
 * to 12 s.
 */
export async function generateUsage(pool: Pool, { together = 5 } = {}): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query(`SET statement_timeout = 0; SET synchronous_commit = off; SET timezone = 'UTC'`);
    await client.query('TRUNCATE run_usage');
    // Gives each run a duration derived from the hash of its id.
    await client.query(
      `UPDATE runs SET ended_at = started_at + interval '1 ms' * (200 * exp(2.5 * (hashtext(id::text) & 65535) / 65536.0)
                                                                * (1 + abs(hashtext(workflow_id::text)) % 5))::int
       WHERE ended_at IS NOT NULL`,
    );
    await client.query(insertUsageSql(together));
    await client.query('ANALYZE run_usage');
  } finally {
    client.release(true);
  }
}

const insertUsageSql = (together: number) => `
  INSERT INTO run_usage (id, tenant_id, project_id, workflow_id, action, quantity, microcredits, attempts, created_at, step_type, subject,
                         outcome, started_by)
  SELECT gen_random_uuid(), '${SCALE.tenant}', project_id, workflow_id, action, sum(quantity), sum(microcredits), json_agg(line), min(at),
         step_type, subject, outcome, started_by
  FROM (
    SELECT r.project_id, r.workflow_id, r.started_by, f.*,
           row_number() OVER (PARTITION BY r.workflow_id, f.action, f.step_type, f.subject, f.outcome, date_bin('15 minutes', f.at, to_timestamp(0))
                              ORDER BY f.at) / ${together} AS commit
    FROM runs r CROSS JOIN LATERAL (VALUES
      ('run_started', 1, 0, json_build_array(id), started_at, '', trigger_type, ''),
      ('run_ended', 1, 0, json_build_array(id, (extract(epoch FROM ended_at - started_at) * 1000)::bigint), ended_at, '', '', status),
      ('workflow_step', 3, 3000, json_build_array(id, 'a', 1, 3), ended_at, 'lua_script', '', 'completed'),
      ('workflow_step', 1, 1000, json_build_array(id, 'b', 1, 1), ended_at, 'llm_call', '', CASE status WHEN 'failed' THEN 'failed' ELSE 'completed' END),
      ('tool_call', 1, 10000, json_build_array(id, 'c', 1, 1), ended_at, 'mcp_call', 'search', ''),
      ('llm_input_tokens', 800, 8000, json_build_array(id, 'b', 1, 800), ended_at, 'llm_call', 'openai/gpt-5', '')
    ) f(action, quantity, microcredits, line, at, step_type, subject, outcome)
    WHERE f.at IS NOT NULL) facts
  GROUP BY project_id, workflow_id, started_by, action, step_type, subject, outcome, date_bin('15 minutes', at, to_timestamp(0)), commit
  ORDER BY min(at)`;

/** The project and the two workflows for queries at scale. */
export const BUSY = { projectId: SCALE.projects[0], workflowId: SCALE.workflows[0] };
