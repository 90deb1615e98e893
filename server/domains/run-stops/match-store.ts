import type { Pool } from 'pg';
import { readFieldFilter } from '../../orchestrator/core/searchable.ts';
import { matchesText } from '../runs/search-store.ts';
import { testFilter } from '../runs/test-filter.ts';
import { type BulkAction, statusesFor } from './actions.ts';
import type { StopFilter } from './schemas.ts';
import type { MatchFilter, StopRow } from './store.ts';

type Parameter = (value: unknown) => string;

/**
 * Returns SQL for the runs `r` of the tenant `$1` to which an action applies, in the order of their start, by the index on project and status.
 * `parameter`: adds a parameter and returns its placeholder. `more`: further conditions. `columns`: the selected columns of `r`.
 */
function runsFor(filter: MatchFilter, parameter: Parameter, { action, columns, more, limit }: Selected): string {
  const where = ['r.tenant_id = $1', 'r.project_id = p.id', 'r.status = s.status', 'r.hidden = h.hidden', ...more];
  if (filter.workflow_ids !== undefined) where.push(`r.workflow_id = ANY(${parameter(filter.workflow_ids)}::uuid[])`);
  if (filter.kind !== undefined) {
    where.push(`EXISTS (SELECT FROM workflows w WHERE w.id = r.workflow_id AND w.kind = ${parameter(filter.kind)})`);
  }
  if (filter.from !== undefined) where.push(`r.started_at >= ${parameter(filter.from)}::timestamptz`);
  if (filter.to !== undefined) where.push(`r.started_at < ${parameter(filter.to)}::timestamptz`);
  if (filter.test !== undefined) where.push(testFilter(filter.test));
  if (filter.session_id !== undefined) where.push(`r.session_id = ${parameter(filter.session_id)}`);
  if (filter.trigger_type !== undefined) where.push(`r.trigger_type = ${parameter(filter.trigger_type)}`);
  if (filter.q !== undefined) where.push(matchesText(filter.q, parameter));
  const field = filter.field === undefined ? null : readFieldFilter(filter.field);
  if (field !== null) {
    where.push(`EXISTS (SELECT FROM run_search_values v WHERE v.run_id = r.id
                         AND v.name = ${parameter(field.name)} AND v.value = ${parameter(field.value)})`);
  }
  if (filter.root_run_id !== undefined) where.push(`r.id = ${parameter(filter.root_run_id)}::uuid`);
  if (filter.run_ids !== undefined) where.push(`r.id = ANY(${parameter(filter.run_ids)}::uuid[])`);
  // A failed run that was continued already matches only if the filter names it.
  if (action === 'continue' && filter.run_ids === undefined)
    where.push('NOT EXISTS (SELECT FROM runs c WHERE c.rerun_of = r.id)');
  const { status } = filter;
  const statuses = statusesFor(action).filter(each => status === undefined || each === status);
  return `SELECT ${columns} FROM (
            SELECT id FROM projects WHERE tenant_id = $1
               AND (${parameter(filter.project_id ?? null)}::uuid IS NULL OR id = ${parameter(filter.project_id ?? null)}::uuid)) p
     CROSS JOIN unnest(${parameter(statuses)}::text[]) s(status)
     CROSS JOIN (VALUES (false), (true)) h(hidden)
     CROSS JOIN LATERAL (
       SELECT r.id, r.started_at FROM runs r WHERE ${where.join(' AND ')}
        ORDER BY r.started_at, r.id LIMIT ${limit}) r
    ORDER BY r.started_at, r.id LIMIT ${limit}`;
}
type Selected = { action: BulkAction; columns: string; more: string[]; limit: number };

/** Counts the matching runs of the tenant, up to `limit`. */
export async function countMatching(
  pool: Pool,
  tenantId: string,
  { action, filter }: { action: BulkAction; filter: MatchFilter },
  limit: number,
): Promise<number> {
  const values: unknown[] = [tenantId];
  const parameter: Parameter = value => `$${values.push(value)}`;
  const matching = runsFor(filter, parameter, { action, columns: 'r.id', more: [], limit });
  const { rows } = await pool.query<{ found: string }>(`SELECT count(*) AS found FROM (${matching}) m`, values);
  return Number(rows[0]?.found ?? 0);
}

/** An active run, for an operator's list. */
export type MatchingRun = {
  id: string;
  workflowId: string;
  workflow: string;
  status: string;
  phase: string;
  startedAt: Date;
  stepsDone: number;
  stepsTotal: number;
  pendingTasks: number;
};

/**
 * Returns the first `limit` active runs of the tenant that match, in the order of their start; with `root_run_id`, those of that run
 * and of all that it called.
 */
export async function listMatching(
  pool: Pool,
  tenantId: string,
  filter: StopFilter,
  limit: number,
): Promise<MatchingRun[]> {
  const values: unknown[] = [tenantId];
  const parameter: Parameter = value => `$${values.push(value)}`;
  const { root_run_id: root } = filter;
  const tree =
    root === undefined
      ? ''
      : `WITH RECURSIVE tree(id) AS (
           SELECT ${parameter(root)}::uuid UNION SELECT c.run_id FROM tree JOIN child_runs c ON c.parent_run_id = tree.id) `;
  const matching =
    root === undefined
      ? runsFor(filter, parameter, { action: 'stop', columns: 'r.id', more: [], limit })
      : 'SELECT id FROM tree';
  const { rows } = await pool.query<MatchingRun>(
    `${tree}SELECT r.id, r.workflow_id AS "workflowId", w.name AS workflow, r.status, r.orchestration_phase AS phase,
            r.started_at AS "startedAt", r.steps_done AS "stepsDone", r.steps_total AS "stepsTotal", r.pending_tasks AS "pendingTasks"
     FROM (${matching}) m JOIN runs r ON r.id = m.id JOIN workflows w ON w.id = r.workflow_id
     WHERE r.tenant_id = $1 AND r.ended_at IS NULL ORDER BY r.started_at, r.id LIMIT ${limit}`,
    values,
  );
  return rows;
}

/**
 * Reads the next `limit` matching runs that started before `before`, and adds new ones to the targets. Returns whether
 * there are more to read in this scan.
 */
export async function matchNext(
  pool: Pool,
  stop: StopRow,
  { before, limit }: { before: Date; limit: number },
): Promise<boolean> {
  const values: unknown[] = [stop.tenantId, stop.id];
  const parameter: Parameter = value => `$${values.push(value)}`;
  // Runs that the bulk action starts itself are later than the request.
  const more = [`r.started_at ${stop.action === 'stop' ? '<=' : '<'} ${parameter(before)}`];
  if (stop.cursorAt !== null) {
    more.push(`(r.started_at, r.id) > (${parameter(stop.cursorAt)}, ${parameter(stop.cursorId)}::uuid)`);
  }
  const matching = runsFor(stop.filter, parameter, {
    action: stop.action,
    columns: 'r.id, r.started_at',
    more,
    limit,
  });
  const { rows } = await pool.query<{ looked_at: string }>(
    `WITH page AS MATERIALIZED (${matching}),
     added AS (
       INSERT INTO run_stop_targets (stop_id, run_id, state, new_run_id)
       SELECT $2, id, 'waiting', ${stop.action === 'stop' ? 'NULL' : 'gen_random_uuid()'} FROM page
       ON CONFLICT DO NOTHING RETURNING run_id),
     last AS (SELECT started_at, id FROM page ORDER BY started_at DESC, id DESC LIMIT 1),
     totals AS (SELECT (SELECT count(*) FROM page) AS looked_at, (SELECT count(*)::integer FROM added) AS added)
     UPDATE run_stops SET matched = matched + totals.added, found_in_pass = found_in_pass OR totals.added > 0,
            cursor_at = CASE WHEN totals.looked_at = ${limit} THEN (SELECT started_at FROM last) END,
            cursor_id = CASE WHEN totals.looked_at = ${limit} THEN (SELECT id FROM last) END
       FROM totals WHERE run_stops.id = $2 AND run_stops.tenant_id = $1
     RETURNING totals.looked_at`,
    values,
  );
  return Number(rows[0]?.looked_at ?? 0) === limit;
}

/**
 * Adds at most `limit` runs that the targets have called, directly or indirectly. Ended runs are added only to find the
 * runs that they called. The root of a bulk stop by `root_run_id` is a target itself. Returns whether it added any.
 */
export async function matchChildren(pool: Pool, stop: StopRow, limit: number): Promise<boolean> {
  const { rows } = await pool.query<{ added: string }>(
    `WITH RECURSIVE tree(run_id) AS (
       SELECT run_id FROM run_stop_targets WHERE stop_id = $2
       UNION SELECT id FROM runs WHERE id = $3 AND tenant_id = $1
       UNION SELECT c.run_id FROM tree JOIN child_runs c ON c.parent_run_id = tree.run_id),
     added AS (
       INSERT INTO run_stop_targets (stop_id, run_id, state)
       SELECT $2, r.id, CASE WHEN r.status IN ('running', 'paused') THEN 'waiting' ELSE 'passed' END
         FROM tree JOIN runs r ON r.id = tree.run_id AND r.tenant_id = $1
        WHERE NOT EXISTS (SELECT FROM run_stop_targets t WHERE t.stop_id = $2 AND t.run_id = r.id)
        LIMIT $4
       ON CONFLICT DO NOTHING RETURNING state),
     counted AS (
       UPDATE run_stops SET matched = matched + (SELECT count(*)::integer FROM added WHERE state = 'waiting')
        WHERE id = $2 AND tenant_id = $1)
     SELECT count(*) AS added FROM added`,
    [stop.tenantId, stop.id, stop.filter.root_run_id ?? null, limit],
  );
  return Number(rows[0]?.added ?? 0) > 0;
}

/** Ends a scan of the active runs, so that the next one begins with the oldest run. Returns whether the scan found any. */
export async function endPass(pool: Pool, { id, tenantId }: StopRow): Promise<boolean> {
  const { rows } = await pool.query<{ found: boolean }>(
    `UPDATE run_stops s SET found_in_pass = false FROM run_stops before
      WHERE s.id = $1 AND s.tenant_id = $2 AND before.id = s.id RETURNING before.found_in_pass AS found`,
    [id, tenantId],
  );
  return rows[0]?.found ?? false;
}
