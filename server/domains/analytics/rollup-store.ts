import { BILLABLE_ACTIONS, type BillableAction } from '../../orchestrator/ports/billable-actions.ts';
import { ACTION_COLUMNS } from './action-columns.ts';
import { grains, WHOLE_PROJECT } from './buckets.ts';

/** The ids of all whole projects as an SQL list, for `IN`. */
export const WHOLE_PROJECTS = `(${Object.values(WHOLE_PROJECT)
  .map(id => `'${id}'`)
  .join(', ')})`;

/** Returns SQL for the id of the project's total that the workflow `id`, an SQL expression, counts in. */
export const wholeProjectOf = (id: string): string =>
  `coalesce((SELECT CASE w.kind ${Object.entries(WHOLE_PROJECT)
    .map(([kind, whole]) => `WHEN '${kind}' THEN '${whole}'::uuid`)
    .join(' ')} END FROM workflows w WHERE w.id = ${id}), '${WHOLE_PROJECT.workflow}'::uuid)`;

/**
 * Callers choose trigger types, and each type takes separate rows. Those of the specification and the first hundred
 * others of a project's month keep their names; the rest of the month is counted as `other`. Usage is aggregated in the
 * order of its numbers, so a rebuild keeps the same names.
 */
const MAX_TRIGGER_TYPES = 100;
export const OTHER = 'other';
const ownNames = ['manual', 'api', 'webhook', 'mcp', 'schedule', OTHER].map(name => `'${name}'`).join(', ');

/** A count of analytics_totals: the number in usage that it adds up, and a condition on the rows. */
type Count = readonly [column: string, of: 'quantity' | 'microcredits', where: string];
const countOf = (action: BillableAction, of: Count[1]): Count => [
  ACTION_COLUMNS[action][of],
  of,
  `action = '${action}'`,
];
const totals: readonly Count[] = [
  ['runs_started', 'quantity', `action = 'run_started'`],
  ['runs_completed', 'quantity', `action = 'run_ended' AND outcome = 'completed'`],
  ['runs_failed', 'quantity', `action = 'run_ended' AND outcome = 'failed'`],
  ['runs_stopped', 'quantity', `action = 'run_ended' AND outcome = 'stopped'`],
  // Usage from before outcomes were recorded has none.
  ['steps_completed', 'quantity', `action = 'workflow_step' AND outcome IN ('completed', '')`],
  ['steps_failed', 'quantity', `action = 'workflow_step' AND outcome = 'failed'`],
  ['steps_retried', 'quantity', `action = 'workflow_step' AND outcome = 'retried'`],
  ...BILLABLE_ACTIONS.filter(action => action !== 'workflow_step').map(action => countOf(action, 'quantity')),
  ...BILLABLE_ACTIONS.map(action => countOf(action, 'microcredits')),
];

export const totalColumns: readonly string[] = totals.map(([column]) => column);
/** Attempts of steps by their outcome. */
const steps: readonly Count[] = [
  ['completed', 'quantity', `action = 'workflow_step' AND outcome IN ('completed', '')`],
  ['failed', 'quantity', `action = 'workflow_step' AND outcome = 'failed'`],
  ['retried', 'quantity', `action = 'workflow_step' AND outcome = 'retried'`],
];

const sum = (of: string, where: string) => `coalesce(sum(${of}) FILTER (WHERE ${where}), 0)`;
const sumExpressions = (columns: readonly Count[]) =>
  columns.map(([column, of, where]) => `${sum(of, where)} AS ${column}`).join(', ');
/** The SQL function that joins two values of a column of rollups. */
export const merged = (column: string) => (column === 'min_ms' ? 'min' : column === 'max_ms' ? 'max' : 'sum');
/** Returns SQL for some of the totals, in the given order, as sums over rows of usage. */
export const totalSumExpressions = (columns: readonly string[]) =>
  sumExpressions(totals.filter(([column]) => columns.includes(column)));
export const stepSumExpressions = sumExpressions(steps);
/** Returns SQL that adds inserted values to existing ones. */
const addOnConflict = (table: string, key: string, columns: readonly string[]) =>
  `ON CONFLICT (project_id, workflow_id, grain, bucket${key}) DO UPDATE SET ${columns
    .map(column => `${column} = ${table}.${column} + excluded.${column}`)
    .join(', ')}`;

/** Returns SQL that truncates `quarter` to a grain, in UTC for sessions of any time zone. */
const bucket = (grain: number): string => {
  const unit = ['quarter', 'hour', 'day', 'month'][grain] ?? 'month';
  return unit === 'quarter' ? 'quarter' : `date_trunc('${unit}', quarter, 'UTC')`;
};
/** Every row of usage counts in each grain, for its workflow and for all of the project's workflows of its kind. */
const spread = `source CROSS JOIN LATERAL (VALUES (source.workflow_id), (source.whole)) scope(id)
  CROSS JOIN LATERAL (VALUES ${grains.map(grain => `(${grain}::smallint, ${bucket(grain)})`).join(', ')}) at(grain, bucket)`;
const key = 'source.tenant_id, source.project_id, scope.id, at.grain, at.bucket';
const keyColumns = 'tenant_id, project_id, workflow_id, grain, bucket';

/** Selects usage with numbers above $1 and up to $2, created at or after $3 (null = at any time), of project $4 (null = all). */
export const SELECTED = `seq > $1 AND seq <= $2 AND ($3::timestamptz IS NULL OR created_at >= $3)
    AND ($4::uuid IS NULL OR project_id = $4)`;
/** The quarter of an hour of a row of usage; the engine never writes two into one row. */
export const QUARTER_OF_ROW = `date_bin('15 minutes', created_at, to_timestamp(0))`;

/** Adds SELECTED usage to all rollups except durations, in one statement. */
export const AGGREGATE = `
WITH usage AS MATERIALIZED (
  SELECT tenant_id, project_id, workflow_id, action, CASE WHEN step_type = '' THEN 'unknown' ELSE step_type END AS step_type,
         CASE WHEN action = 'run_started' THEN subject ELSE '' END AS subject, outcome, ${QUARTER_OF_ROW} AS quarter,
         sum(quantity) AS quantity, sum(microcredits) AS microcredits, min(seq) AS first_seq
  FROM run_usage WHERE ${SELECTED} GROUP BY 1, 2, 3, 4, 5, 6, 7, 8),
source AS MATERIALIZED (SELECT u.*, ${wholeProjectOf('u.workflow_id')} AS whole FROM usage u),
words AS MATERIALIZED (
  SELECT project_id, date_trunc('month', quarter, 'UTC') AS month, subject, min(first_seq) AS first_seq
  FROM source WHERE action = 'run_started' AND subject NOT IN (${ownNames}) GROUP BY 1, 2, 3),
known AS MATERIALIZED (
  SELECT DISTINCT t.project_id, t.bucket AS month, t.trigger_type AS subject
  FROM (SELECT DISTINCT project_id, month FROM words) w JOIN analytics_triggers t
    ON t.project_id = w.project_id AND t.workflow_id IN ${WHOLE_PROJECTS} AND t.grain = 3 AND t.bucket = w.month
  WHERE t.trigger_type NOT IN (${ownNames})),
fresh AS (
  SELECT project_id, month, subject, row_number() OVER (PARTITION BY project_id, month ORDER BY first_seq, subject) AS place
  FROM words WHERE (project_id, month, subject) NOT IN (SELECT project_id, month, subject FROM known)),
named AS MATERIALIZED (
  TABLE known UNION ALL
  SELECT project_id, month, subject FROM fresh f
  WHERE place + (SELECT count(*) FROM known k WHERE k.project_id = f.project_id AND k.month = f.month) <= ${MAX_TRIGGER_TYPES}),
triggers AS (
  INSERT INTO analytics_triggers (${keyColumns}, trigger_type, runs_started)
  SELECT ${key}, CASE WHEN source.subject IN (${ownNames}) OR (source.project_id, date_trunc('month', quarter, 'UTC'),
                            source.subject) IN (SELECT project_id, month, subject FROM named)
                      THEN source.subject ELSE '${OTHER}' END, sum(quantity)
  FROM ${spread} WHERE action = 'run_started' GROUP BY 1, 2, 3, 4, 5, 6
  ${addOnConflict('analytics_triggers', ', trigger_type', ['runs_started'])}),
steps AS (
  INSERT INTO analytics_steps (${keyColumns}, step_type, completed, failed, retried, microcredits)
  SELECT ${key}, step_type, ${stepSumExpressions}, sum(microcredits)
  FROM ${spread} WHERE action NOT IN ('run_started', 'run_ended') GROUP BY 1, 2, 3, 4, 5, 6
  ${addOnConflict('analytics_steps', ', step_type', ['completed', 'failed', 'retried', 'microcredits'])})
INSERT INTO analytics_totals (${keyColumns}, ${totalColumns.join(', ')})
SELECT ${key}, ${sumExpressions(totals)}
FROM ${spread} GROUP BY 1, 2, 3, 4, 5
${addOnConflict('analytics_totals', '', totalColumns)}`;
