import type { WorkflowKind } from '../../operation/workflow-kinds.ts';
import type { Queryable } from '../../platform/postgres/transaction.ts';
import { QUARTER, type Segment, wholeProject } from './buckets.ts';
import { totalColumns } from './rollup-store.ts';

/** The subject of the figures: the workflows of one kind in a tenant's project, or one workflow of any kind in it. */
export type Scope = { tenantId: string; projectId: string; workflowId: string | undefined; kind: WorkflowKind };

/** Returns the id of the rollups of the scope. */
export const subjectOf = ({ workflowId, kind }: Scope): string => workflowId ?? wholeProject(kind);

/** The counts of analytics_totals by their columns; microcredits where the name says so. */
export type Totals = Record<string, number>;

/** The maximum number of workflows that an answer lists. */
const MAX_WORKFLOWS = 20;

/**
 * Joins the segments, each as one range of the key. $1 tenant, $2 project, $3..$5 segments. OFFSET 0 prevents another
 * plan: if the planner considers index scans expensive (PostgreSQL's own settings), it would instead read everything of
 * a workflow and compare each row with each segment, which takes 0.8 s for a million runs.
 */
const SEGMENTS = 'unnest($3::smallint[], $4::timestamptz[], $5::timestamptz[]) s(grain, lower, upper)';
const rowsOf = (table: string, workflow: string) => `CROSS JOIN LATERAL (
  SELECT * FROM ${table} t WHERE t.project_id = $2 AND t.workflow_id = ${workflow} AND t.grain = s.grain
    AND t.bucket >= s.lower AND t.bucket < s.upper AND t.tenant_id = $1 OFFSET 0) t`;
const iso = (at: number) => new Date(at).toISOString();

function valuesOf({ tenantId, projectId }: Scope, segments: readonly Segment[]): unknown[] {
  return [
    tenantId,
    projectId,
    segments.map(({ grain }) => grain),
    segments.map(({ from }) => iso(from)),
    segments.map(({ to }) => iso(to)),
  ];
}

const sums = (columns: readonly string[]) =>
  columns.map(name => `coalesce(sum(t.${name}), 0)::int8 AS ${name}`).join(', ');
const numbers = (row: Record<string, unknown>): Totals =>
  Object.fromEntries(totalColumns.filter(name => name in row).map(name => [name, Number(row[name])]));

/** Returns the start of the first quarter with figures (ms since the epoch), or null. */
export async function findFirstBucket(db: Queryable, scope: Scope): Promise<number | null> {
  const { rows } = await db.query<{ bucket: Date }>(
    `SELECT bucket FROM analytics_totals
      WHERE tenant_id = $1 AND project_id = $2 AND workflow_id = $3 AND grain = $4 ORDER BY bucket LIMIT 1`,
    [scope.tenantId, scope.projectId, subjectOf(scope), QUARTER],
  );
  return rows[0]?.bucket.getTime() ?? null;
}

/** Returns the totals of all segments together. */
export async function sumTotals(db: Queryable, scope: Scope, segments: readonly Segment[]): Promise<Totals> {
  const { rows } = await db.query<Record<string, string>>(
    `SELECT ${sums(totalColumns)} FROM ${SEGMENTS} ${rowsOf('analytics_totals', '$6')}`,
    [...valuesOf(scope, segments), subjectOf(scope)],
  );
  return numbers(rows[0] ?? {});
}

/**
 * Returns the totals by point, which is an index into `starts`; points without data are absent. `starts` ascend and
 * contain the segments.
 */
export async function sumSeries(
  db: Queryable,
  scope: Scope,
  segments: readonly Segment[],
  starts: readonly number[],
): Promise<Map<number, Totals>> {
  const { rows } = await db.query<Record<string, string>>(
    `SELECT width_bucket(t.bucket, $7::timestamptz[]) - 1 AS point, ${sums(totalColumns)}
     FROM ${SEGMENTS} ${rowsOf('analytics_totals', '$6')} GROUP BY 1`,
    [...valuesOf(scope, segments), subjectOf(scope), starts.map(iso)],
  );
  return new Map(rows.map(row => [Number(row.point), numbers(row)]));
}

export type WorkflowTotals = { id: string; name: string | null; totals: Totals };

/**
 * Returns the workflows with the largest sum of the columns, largest first, without those that have
 * nothing in `columns` and `also`.
 */
export async function topWorkflows(
  db: Queryable,
  scope: Scope,
  segments: readonly Segment[],
  columns: readonly string[],
  also: readonly string[] = [],
): Promise<WorkflowTotals[]> {
  const all = [...columns, ...also];
  const { rows } = await db.query<Record<string, string> & { id: string; name: string }>(
    `SELECT w.id, w.name, ${sums(all)}
     FROM workflows w CROSS JOIN ${SEGMENTS} ${rowsOf('analytics_totals', 'w.id')}
     WHERE w.tenant_id = $1 AND w.project_id = $2 AND (CASE WHEN $6::uuid IS NULL THEN w.kind = $7 ELSE w.id = $6 END)
     GROUP BY w.id, w.name HAVING sum(${all.map(name => `t.${name}`).join(' + ')}) > 0
     ORDER BY sum(${columns.map(name => `t.${name}`).join(' + ')}) DESC, w.id LIMIT ${MAX_WORKFLOWS}`,
    [...valuesOf(scope, segments), scope.workflowId ?? null, scope.kind],
  );
  return rows.map(row => ({ id: row.id, name: row.name, totals: numbers(row) }));
}

/** Returns the number of started runs per trigger type, largest first. */
export async function sumTriggers(
  db: Queryable,
  scope: Scope,
  segments: readonly Segment[],
): Promise<{ trigger_type: string; started: number }[]> {
  const { rows } = await db.query<{ trigger_type: string; started: string }>(
    `SELECT t.trigger_type, sum(t.runs_started)::int8 AS started FROM ${SEGMENTS} ${rowsOf('analytics_triggers', '$6')}
     GROUP BY 1 ORDER BY 2 DESC, 1`,
    [...valuesOf(scope, segments), subjectOf(scope)],
  );
  return rows.map(row => ({ trigger_type: row.trigger_type, started: Number(row.started) }));
}

export type StepTypeTotals = {
  step_type: string;
  completed: number;
  failed: number;
  retried: number;
  microcredits: number;
};

/** Returns attempts and credits by step type, the type with most attempts first. */
export async function sumSteps(db: Queryable, scope: Scope, segments: readonly Segment[]): Promise<StepTypeTotals[]> {
  const { rows } = await db.query<Record<keyof StepTypeTotals, string>>(
    `SELECT t.step_type, sum(t.completed)::int8 AS completed, sum(t.failed)::int8 AS failed, sum(t.retried)::int8 AS retried,
            sum(t.microcredits)::int8 AS microcredits
     FROM ${SEGMENTS} ${rowsOf('analytics_steps', '$6')}
     GROUP BY 1 ORDER BY sum(t.completed + t.failed + t.retried) DESC, 1`,
    [...valuesOf(scope, segments), subjectOf(scope)],
  );
  return rows.map(row => ({
    step_type: row.step_type,
    completed: Number(row.completed),
    failed: Number(row.failed),
    retried: Number(row.retried),
    microcredits: Number(row.microcredits),
  }));
}

export type DurationRow = { runs: number; totalMs: number; minMs: number; maxMs: number; bins: Buffer };

/**
 * Returns the durations of runs that completed or failed, by workflow and bucket. The id of a whole project (`subjectOf`) stands
 * for all its workflows.
 */
export async function listDurations(
  db: Queryable,
  scope: Scope,
  segments: readonly Segment[],
  workflowIds: readonly string[],
): Promise<Map<string, DurationRow[]>> {
  type Row = { workflow_id: string; runs: string; total_ms: string; min_ms: string; max_ms: string; bins: Buffer };
  const { rows } = await db.query<Row>(
    `SELECT t.workflow_id, t.runs, t.total_ms, t.min_ms, t.max_ms, t.bins
     FROM unnest($6::uuid[]) w(id) CROSS JOIN ${SEGMENTS} ${rowsOf('analytics_durations', 'w.id')}
     WHERE t.outcome IN ('completed', 'failed')`,
    [...valuesOf(scope, segments), workflowIds],
  );
  const found = new Map<string, DurationRow[]>(workflowIds.map(id => [id, []]));
  for (const row of rows) {
    found.get(row.workflow_id)?.push({
      runs: Number(row.runs),
      totalMs: Number(row.total_ms),
      minMs: Number(row.min_ms),
      maxMs: Number(row.max_ms),
      bins: row.bins,
    });
  }
  return found;
}

export type LiveCounts = { running: number; blocked: number; paused: number };

/** Returns the runs that have not ended, from the index on projects and status. */
export async function countLiveRuns(db: Queryable, scope: Scope): Promise<LiveCounts> {
  const { rows } = await db.query<Record<keyof LiveCounts, number>>(
    `SELECT count(*) FILTER (WHERE status = 'running')::int AS running,
            count(*) FILTER (WHERE status = 'running' AND orchestration_phase = 'blocked')::int AS blocked,
            count(*) FILTER (WHERE status = 'paused')::int AS paused
     FROM runs WHERE tenant_id = $1 AND project_id = $2 AND status IN ('running', 'paused')
       AND (CASE WHEN $3::uuid IS NULL THEN EXISTS (SELECT FROM workflows w WHERE w.id = workflow_id AND w.kind = $4)
                 ELSE workflow_id = $3 END)`,
    [scope.tenantId, scope.projectId, scope.workflowId ?? null, scope.kind],
  );
  return rows[0] ?? { running: 0, blocked: 0, paused: 0 };
}

/**
 * Begins a read-only transaction with one snapshot. Rows are always found by key, because the planner has no statistics
 * of new tables. Compiling a plan would cost more than running it.
 */
export async function readFromOneSnapshot(db: Queryable): Promise<void> {
  await db.query(
    `SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY; SET LOCAL jit = off; SET LOCAL enable_seqscan = off;
     SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off`,
  );
}
