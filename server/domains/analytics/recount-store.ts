import { withInnerSteps } from '../../orchestrator/steps/graph-queries.ts';
import type { Queryable } from '../../platform/postgres/transaction.ts';
import { compareRollups, type Difference } from './comparison-store.ts';
import {
  merged,
  QUARTER_OF_ROW,
  stepSumExpressions,
  totalColumns,
  totalSumExpressions,
  WHOLE_PROJECTS,
} from './rollup-store.ts';

const quarterOf = (at: string) => `date_bin('15 minutes', ${at}, to_timestamp(0))`;

export type Recount = {
  /** All runs with usage after this instant still exist; null = all of it. */
  since: Date | null;
  /** Rollups of steps are compared from this instant on; null = all of them. */
  stepsSince: Date | null;
  /** Usage up to this number is in the rollups; later usage is added to them first. */
  seq: number;
  /** Codes of failures that are never billed. */
  codes: readonly string[];
};

/** The types of a version's steps; those in a loop are named `<loop>.<step>`. */
const STEP_TYPES = `
  CREATE TEMP TABLE step_types ON COMMIT DROP AS
  ${withInnerSteps(
    `SELECT workflow_id, version, '', json_array_elements(graph_snapshot->'steps') FROM workflow_versions`,
    ['workflow_id', 'version', 'around'],
    ['workflow_id', 'version', `around || (step->>'id') || '.'`],
  )}
  SELECT workflow_id, version, around || (step->>'id') AS step_id, min(step->>'type') AS type FROM steps GROUP BY 1, 2, 3`;

/**
 * The usage according to runs and their events, as rows of usage: each run's start and end, each billable attempt with
 * its price, which is one number in its event, and its consumption.
 */
const recounted = (isAffected: (at: string) => string, codes: readonly string[]) => `
  CREATE TEMP TABLE recounted ON COMMIT DROP AS
  SELECT project_id, workflow_id, ${quarterOf('started_at')} AS bucket, 'run_started' AS action, '' AS outcome, '' AS step_type,
         1::int8 AS quantity, 0::int8 AS microcredits, 0::int8 AS ms
  FROM runs WHERE ${isAffected('started_at')}
  UNION ALL
  SELECT project_id, workflow_id, ${quarterOf('ended_at')}, 'run_ended', status, '', 1, 0,
         greatest(0, (extract(epoch FROM ended_at - started_at) * 1000)::int8)
  FROM runs WHERE ended_at IS NOT NULL AND ${isAffected('ended_at')}
  UNION ALL
  SELECT r.project_id, r.workflow_id, ${quarterOf('e.created_at')}, used.action,
         CASE WHEN used.action <> 'workflow_step' THEN '' WHEN e.event_type = 'step_completed' THEN 'completed'
              WHEN e.event_type = 'step_failed' THEN 'failed' ELSE 'retried' END,
         coalesce(t.type, 'unknown'), used.quantity, used.microcredits, 0
  FROM run_events e JOIN runs r ON r.id = e.run_id
  LEFT JOIN step_types t ON t.workflow_id = r.workflow_id AND t.version = r.version
    AND t.step_id = regexp_replace(e.step_id, '\\.\\d+\\.', '.', 'g')
  CROSS JOIN LATERAL (
    SELECT 'workflow_step' AS action, 1::int8 AS quantity, coalesce((e.data->>'credits')::int8, 0) AS microcredits
    UNION ALL
    SELECT c->>'action', (c->>'quantity')::int8, 0 FROM json_array_elements(coalesce(e.data->'consumed', '[]')) c) used
  WHERE ${isAffected('e.created_at')} AND e.attempt IS NOT NULL AND (
    (e.event_type = 'step_completed' AND e.data->'skipped' IS NULL) OR e.event_type = 'step_retrying'
    OR (e.event_type = 'step_failed' AND e.data->'caused_by_step_id' IS NULL AND e.data->'error'->>'code' NOT IN (${codes.map(code => `'${code}'`).join(', ')})))`;

const runCounts = totalColumns.filter(name => name.startsWith('runs_'));
const stepCounts = totalColumns.filter(name => !name.startsWith('runs_') && !name.endsWith('_microcredits'));
const microcredits = totalColumns.filter(name => name.endsWith('_microcredits')).join(' + ');
const ofSteps = `action NOT IN ('run_started', 'run_ended')`;

/** A table's columns, and what to read from its own rows and from rows of usage, by `name`. */
const questions: readonly {
  table: string;
  columns: readonly string[];
  name: string;
  stored: string;
  usage: string;
  where: string;
}[] = [
  {
    table: 'analytics_totals',
    columns: runCounts,
    name: `''`,
    stored: runCounts.join(', '),
    usage: totalSumExpressions(runCounts),
    where: `NOT ${ofSteps}`,
  },
  {
    table: 'analytics_totals',
    columns: [...stepCounts, 'microcredits'],
    name: `''`,
    stored: `${stepCounts.join(', ')}, ${microcredits} AS microcredits`,
    usage: `${totalSumExpressions(stepCounts)}, sum(microcredits) AS microcredits`,
    where: ofSteps,
  },
  {
    table: 'analytics_steps',
    columns: ['completed', 'failed', 'retried', 'microcredits'],
    name: 'step_type',
    stored: 'completed, failed, retried, microcredits',
    usage: `${stepSumExpressions}, sum(microcredits) AS microcredits`,
    where: ofSteps,
  },
  {
    // Only the numbers: which trigger types of a month are counted as `other` depends on the
    // order in which they occurred.
    table: 'analytics_triggers',
    columns: ['runs_started'],
    name: `''`,
    stored: 'runs_started',
    usage: 'sum(quantity) AS runs_started',
    where: `action = 'run_started'`,
  },
  {
    table: 'analytics_durations',
    columns: ['runs', 'total_ms', 'min_ms', 'max_ms'],
    name: 'outcome',
    stored: 'runs, total_ms, min_ms, max_ms',
    usage: 'sum(quantity) AS runs, sum(ms) AS total_ms, min(ms) AS min_ms, max(ms) AS max_ms',
    where: `action = 'run_ended'`,
  },
];

/**
 * Returns the time from which rollups of steps can be compared with events (null = all of them). Usage from before
 * migration 0009 has neither types nor outcomes and is aggregated as completed steps of the type `unknown`; attempts
 * from before migration 0004 have no usage at all. The time is derived from the rollups, because retention may have
 * purged the usage.
 */
export async function readStepsSince(db: Queryable): Promise<Date | null> {
  const { rows } = await db.query<{ since: Date | null }>(
    `SELECT max(bucket) + interval '15 minutes' AS since FROM analytics_steps WHERE grain = 0 AND step_type = 'unknown'`,
  );
  return rows[0]?.since ?? null;
}

/**
 * Returns the differences between the quarters of single workflows in the rollups and runs with their events, as of the
 * transaction's snapshot; at most `most`.
 */
export async function compareWithRuns(db: Queryable, recount: Recount, limit: number): Promise<Difference[]> {
  const { since, stepsSince, seq, codes } = recount;
  const isAffected = (at: string) => (since === null ? 'true' : `${at} >= '${since.toISOString()}'`);
  await db.query(STEP_TYPES);
  await db.query(recounted(isAffected, codes));
  await db.query(
    `CREATE TEMP TABLE pending ON COMMIT DROP AS
     SELECT project_id, workflow_id, ${QUARTER_OF_ROW} AS bucket, action, outcome,
            CASE WHEN step_type = '' THEN 'unknown' ELSE step_type END AS step_type,
            CASE WHEN line IS NULL THEN quantity ELSE 1 END AS quantity, microcredits, coalesce((line->>1)::int8, 0) AS ms
     FROM run_usage LEFT JOIN LATERAL json_array_elements(attempts) line ON action = 'run_ended'
     WHERE seq > ${seq} AND ${isAffected('created_at')}`,
  );
  await db.query('ANALYZE step_types, recounted, pending');
  const found: Difference[] = [];
  for (const { table, columns, name, stored, usage, where } of questions) {
    if (found.length >= limit) break;
    const summed = (from: string) =>
      `SELECT project_id, workflow_id, 0 AS grain, bucket, ${name} AS name, ${usage} FROM ${from} WHERE ${where} GROUP BY 1, 2, 4, 5`;
    const sums = `SELECT project_id, workflow_id, grain, bucket, name, ${columns
      .map(column => `${merged(column)}(${column}) AS ${column}`)
      .join(', ')} FROM (
        SELECT project_id, workflow_id, 0 AS grain, bucket, ${name} AS name, ${stored} FROM ${table}
         WHERE grain = 0 AND workflow_id NOT IN ${WHOLE_PROJECTS} AND ${isAffected('bucket')}
        UNION ALL ${summed('pending')}) told GROUP BY 1, 2, 3, 4, 5`;
    const compared = (rows: string) =>
      where === ofSteps && stepsSince !== null
        ? `SELECT * FROM (${rows}) c WHERE bucket >= '${stepsSince.toISOString()}'`
        : rows;
    const [ours, theirs] = [compared(sums), compared(summed('recounted'))];
    found.push(...(await compareRollups(db, { table, columns }, ours, theirs, limit - found.length)));
  }
  return found;
}
