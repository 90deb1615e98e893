import type { Pool } from 'pg';
import { toMicrocredits } from '../../../orchestrator/ports/microcredits.ts';
import { QUARTER_HOUR_MS } from '../../../platform/clock.ts';
import { conditions, type UsageFilter } from './store.ts';

/** The usage of one key. `quantity` is in the unit of the action; `steps` are attempts of steps. */
export type UsageRollup = { key: Record<string, string>; steps: number; quantity: number; microcredits: number };

/** The columns that usage is rolled up by; a day is `YYYY-MM-DD` in the time zone. */
const ROLLUP_COLUMNS = {
  project: 'u.project_id::text',
  workflow: 'u.workflow_id::text',
  action: 'u.action',
  step_type: 'u.step_type',
  subject: 'u.subject',
  started_by: 'u.started_by',
  day: `to_char(u.day, 'YYYY-MM-DD')`,
} as const;
export type RollupColumn = keyof typeof ROLLUP_COLUMNS;

const COLUMNS =
  'u.project_id, u.workflow_id, u.action, u.step_type, u.subject, u.started_by, u.created_at, u.quantity, u.microcredits';

/**
 * Returns a workspace's usage rolled up by each of several sets of columns. One pass rolls the usage up by all columns
 * and the day; each set then rolls up only those few rows, which is twice as fast as a pass for each set. `now` is in
 * ms since the epoch. Throws PostgreSQL's 22023 for an unknown time zone.
 */
export async function queryUsage(
  pool: Pool,
  tenantId: string,
  filter: UsageFilter,
  { by, timeZone, now }: { by: readonly (readonly RollupColumn[])[]; timeZone: string; now: number },
): Promise<UsageRollup[][]> {
  const {
    rows: source,
    values,
    parameter,
  } = filter.run === undefined ? rolledUpSource(tenantId, filter, now) : runSource(tenantId, filter);
  const columns = [...new Set(by.flat())];
  const day = columns.includes('day') ? `date_trunc('day', u.created_at AT TIME ZONE ${parameter(timeZone)})` : 'NULL';
  const grouped = columns.map(column => ROLLUP_COLUMNS[column]);
  const { rows } = await pool.query<Record<string, string>>(
    `SELECT grouping(${grouped.join(', ')}) AS set, ${columns.map(column => `${ROLLUP_COLUMNS[column]} AS ${column}`).join(', ')},
            coalesce(sum(u.quantity) FILTER (WHERE u.action = 'workflow_step'), 0) AS steps,
            sum(u.quantity) AS quantity, sum(u.microcredits) AS microcredits
     FROM (SELECT u.project_id, u.workflow_id, u.action, u.step_type, u.subject, u.started_by, ${day} AS day,
                  sum(u.quantity) AS quantity, sum(u.microcredits) AS microcredits
           FROM (${source}) u GROUP BY 1, 2, 3, 4, 5, 6, 7) u
     GROUP BY GROUPING SETS (${by.map(set => `(${set.map(column => ROLLUP_COLUMNS[column]).join(', ')})`).join(', ')})`,
    values,
  );
  return by.map(set => {
    // Has a bit for each column that is not in the set; the first column's bit is the highest.
    const bits = columns.reduce((sum, column) => sum * 2 + (set.includes(column) ? 0 : 1), 0);
    return rows.filter(row => Number(row.set) === bits).map(row => toRollup(row, set));
  });
}

/** Rows of usage with ROLLUP_COLUMNS, in SQL, and the values of its parameters. */
type Source = { rows: string; values: unknown[]; parameter: (value: unknown) => string };

/**
 * Reads whole quarters of an hour from their rollups, which are at most a hundredth of the rows. Reads from the rows
 * themselves what is not rolled up yet, and the quarters that the period splits. One snapshot contains the rollups and
 * the number of the last row in them.
 */
function rolledUpSource(tenantId: string, { from, to, ...filter }: UsageFilter, now: number): Source {
  const { values, where, parameter } = conditions(tenantId, filter);
  const time = (ms: number) => `${parameter(new Date(ms))}::timestamptz`;
  const within = (...bounds: string[]) => [...where, ...bounds].join(' AND ');
  // No usage is later than now, so the current quarter can be read as a whole.
  const until = to === undefined || to > now ? undefined : to;
  const first = from === undefined ? undefined : Math.ceil(from / QUARTER_HOUR_MS) * QUARTER_HOUR_MS;
  const end = until === undefined ? undefined : Math.floor(until / QUARTER_HOUR_MS) * QUARTER_HOUR_MS;
  const period = [
    ...(from === undefined ? [] : [`u.created_at >= ${time(from)}`]),
    ...(until === undefined ? [] : [`u.created_at < ${time(until)}`]),
  ];
  const whole = [
    ...(first === undefined ? [] : [`u.created_at >= ${time(first)}`]),
    ...(end === undefined ? [] : [`u.created_at < ${time(end)}`]),
  ];
  const rolledUpTo = '(SELECT seq FROM analytics_progress)';
  const rows = (...bounds: string[]) => `SELECT ${COLUMNS} FROM run_usage u WHERE ${within(...period, ...bounds)}`;
  const parts = [
    `SELECT ${COLUMNS} FROM (SELECT *, bucket AS created_at FROM usage_sums) u WHERE ${within(...whole)}`,
    rows(`u.seq > ${rolledUpTo}`),
    ...(first === undefined ? [] : [rows(`u.seq <= ${rolledUpTo}`, `u.created_at < ${time(first)}`)]),
    ...(end === undefined
      ? []
      : [rows(`u.seq <= ${rolledUpTo}`, `u.created_at >= ${time(Math.max(end, first ?? end))}`)]),
  ];
  return { rows: parts.join(' UNION ALL '), values, parameter };
}

/** Reads a run's lines from the rows of its commits. */
function runSource(tenantId: string, filter: UsageFilter): Source {
  const { values, where, parameter } = conditions(tenantId, filter);
  const price = 'u.microcredits / greatest(u.quantity, 1)';
  const rows = `SELECT u.project_id, u.workflow_id, u.action, u.step_type, u.subject, u.started_by, u.created_at, l.quantity,
                       l.quantity * (${price}) AS microcredits
    FROM run_usage u
    CROSS JOIN LATERAL (SELECT coalesce(sum((a->>3)::bigint), 0)::bigint AS quantity FROM json_array_elements(u.attempts) a
                        WHERE a->>0 = ${parameter(filter.run)} HAVING count(*) > 0) l
    WHERE ${where.join(' AND ')}`;
  return { rows, values, parameter };
}

function toRollup(row: Record<string, string>, set: readonly RollupColumn[]): UsageRollup {
  return {
    key: Object.fromEntries(set.map(column => [column, row[column] ?? ''])),
    steps: toMicrocredits(row.steps ?? 0),
    quantity: toMicrocredits(row.quantity ?? 0),
    microcredits: toMicrocredits(row.microcredits ?? 0),
  };
}
