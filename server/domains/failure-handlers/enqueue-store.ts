import type { Queryable } from '../../platform/postgres/transaction.ts';
import { FAILURE_HANDLER_TRIGGER } from '../runs/triggers/failure.ts';

/** A range of `run_usage`: numbers after `after`, up to and including `upTo`. */
export type Range = { after: string; upTo: string };

const UUID = '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$';

/**
 * Returns whether there is usage after the progress, with one look-up in an index, so that an
 * idle service writes nothing.
 */
export async function hasNews(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ news: boolean }>({
    name: 'failure_handler_news',
    text: `SELECT EXISTS (SELECT FROM run_usage u WHERE u.seq > p.usage_seq) AS news FROM failure_handler_progress p`,
  });
  return rows[0]?.news ?? false;
}

/**
 * Returns the next range to read, which is not beyond the horizon, and locks the progress until the transaction ends; null
 * if another session holds it.
 */
export async function lockNextRange(
  db: Queryable,
  { limit, horizon }: { limit: number; horizon: number },
): Promise<Range | null> {
  const { rows } = await db.query<{ usage_seq: string }>(
    'SELECT usage_seq FROM failure_handler_progress FOR UPDATE SKIP LOCKED',
  );
  const after = rows[0]?.usage_seq;
  if (after === undefined) return null;
  const { rows: ends } = await db.query<{ seq: string | null }>(
    'SELECT max(seq) AS seq FROM (SELECT seq FROM run_usage WHERE seq > $1 AND seq <= $3 ORDER BY seq LIMIT $2) u',
    [after, limit, horizon],
  );
  return { after, upTo: ends[0]?.seq ?? after };
}

/** Moves the progress to the end of a range. The caller holds its lock. */
export async function saveProgress(db: Queryable, { upTo }: Range): Promise<void> {
  await db.query('UPDATE failure_handler_progress SET usage_seq = $1', [upTo]);
}

/**
 * Adds a row for each run that failed in the range and whose version names a handler. Test runs, runs of handlers and
 * the runs that handlers called get no row, so a failed handler starts no other one. `at`: when the first attempt is
 * due, in ms since the epoch.
 */
export async function enqueueHandlers(db: Queryable, { after, upTo }: Range, at: number): Promise<void> {
  await db.query(
    `WITH RECURSIVE failed AS MATERIALIZED (
       SELECT r.id, r.tenant_id, r.project_id, r.workflow_id, r.version
         FROM run_usage g
         CROSS JOIN LATERAL json_array_elements(g.attempts) line
         JOIN runs r ON r.id = (line->>0)::uuid AND r.version > 0
        WHERE g.seq > $1 AND g.seq <= $2 AND g.action = 'run_ended' AND g.outcome = 'failed'),
     -- Each graph is read once, however many of its runs failed.
     handlers AS MATERIALIZED (
       SELECT v.workflow_id, v.version, v.graph_snapshot->'on_failure'->>'workflow_id' AS handler
         FROM (SELECT DISTINCT workflow_id, version FROM failed) f
         JOIN workflow_versions v ON v.workflow_id = f.workflow_id AND v.version = f.version),
     handled AS MATERIALIZED (
       SELECT f.id, f.tenant_id, f.project_id, h.handler::uuid AS handler
         FROM failed f JOIN handlers h ON h.workflow_id = f.workflow_id AND h.version = f.version
        WHERE h.handler ~* '${UUID}'),
     callers (id, run_id) AS (
       SELECT id, id FROM handled
       UNION
       SELECT a.id, c.parent_run_id FROM callers a JOIN child_runs c ON c.run_id = a.run_id)
     INSERT INTO failure_handlers (run_id, tenant_id, project_id, workflow_id, next_attempt_at)
     SELECT id, tenant_id, project_id, handler, to_timestamp($3::float8 / 1000)
       FROM handled
      WHERE id NOT IN (SELECT a.id FROM callers a JOIN runs r ON r.id = a.run_id AND r.trigger_type = '${FAILURE_HANDLER_TRIGGER}')
     ON CONFLICT DO NOTHING`,
    [after, upTo, at],
  );
}
