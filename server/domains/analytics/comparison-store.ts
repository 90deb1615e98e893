import type { Queryable } from '../../platform/postgres/transaction.ts';
import { grains } from './buckets.ts';
import type { Progress } from './progress-store.ts';
import { merged, totalColumns, WHOLE_PROJECTS, wholeProjectOf } from './rollup-store.ts';
import { usageRollupQuery } from './usage-rollup-store.ts';

/** A rollup with a wrong value. */
export type Difference = {
  table: string;
  projectId: string;
  workflowId: string;
  grain: number;
  /** ISO 8601. */
  bucket: string;
  /** The step type or outcome, if the table has one; the trigger type if rollups are compared with each other. */
  name: string;
  column: string;
  sum: number;
  recount: number;
};

type Row = {
  project_id: string;
  workflow_id: string;
  grain: number;
  bucket: Date;
  name: string;
  column_name: string;
  sum: string;
  recount: string;
};
const key = ['project_id', 'workflow_id', 'grain', 'bucket', 'name'];

/**
 * Returns the differences between two relations (project_id, workflow_id, grain, bucket, name and the columns): one for
 * each column, at most `limit`. A row that exists in only one relation counts as zero in the other.
 */
export async function compareRollups(
  db: Queryable,
  about: { table: string; columns: readonly string[] },
  sums: string,
  recount: string,
  limit: number,
): Promise<Difference[]> {
  const on = key.map(name => `a.${name} = b.${name}`).join(' AND ');
  const lines = about.columns.map(name => `('${name}', coalesce(a.${name}, 0), coalesce(b.${name}, 0))`).join(', ');
  const { rows } = await db.query<Row>(
    `SELECT ${key.map(name => `coalesce(a.${name}, b.${name}) AS ${name}`).join(', ')}, c.column_name, c.sum, c.recount
     FROM (${sums}) a FULL JOIN (${recount}) b ON ${on}
     CROSS JOIN LATERAL (VALUES ${lines}) c(column_name, sum, recount)
     WHERE c.sum <> c.recount ORDER BY 1, 2, 3, 4, 5, 6 LIMIT ${limit}`,
  );
  return rows.map(row => ({
    table: about.table,
    projectId: row.project_id,
    workflowId: row.workflow_id,
    grain: row.grain,
    bucket: row.bucket.toISOString(),
    name: row.name,
    column: row.column_name,
    sum: Number(row.sum),
    recount: Number(row.recount),
  }));
}

const tables: readonly { table: string; name: string; columns: readonly string[] }[] = [
  { table: 'analytics_totals', name: `''`, columns: totalColumns },
  { table: 'analytics_triggers', name: 'trigger_type', columns: ['runs_started'] },
  { table: 'analytics_steps', name: 'step_type', columns: ['completed', 'failed', 'retried', 'microcredits'] },
  { table: 'analytics_durations', name: 'outcome', columns: ['runs', 'total_ms', 'min_ms', 'max_ms'] },
];
const unit = ['', 'hour', 'day', 'month'];
const buckets = grains
  .map(grain => `(${grain}, ${grain === 0 ? 'q.bucket' : `date_trunc('${unit[grain]}', q.bucket, 'UTC')`})`)
  .join(', ');

/** Returns the differences between the quarters of single workflows and the rollups of coarser grains or whole projects. */
export async function compareGrains(db: Queryable, limit: number): Promise<Difference[]> {
  const found: Difference[] = [];
  for (const { table, name, columns } of tables) {
    if (found.length >= limit) break;
    const rows = `SELECT project_id, workflow_id, grain::int, bucket, ${name} AS name, ${columns.join(', ')} FROM ${table}`;
    const again = `SELECT q.project_id, s.id AS workflow_id, g.grain, g.bucket, q.name,
        ${columns.map(column => `${merged(column)}(q.${column}) AS ${column}`).join(', ')}
      FROM (${rows} WHERE grain = 0 AND workflow_id NOT IN ${WHOLE_PROJECTS}) q
      CROSS JOIN LATERAL (VALUES (q.workflow_id), (${wholeProjectOf('q.workflow_id')})) s(id)
      CROSS JOIN LATERAL (VALUES ${buckets}) g(grain, bucket) GROUP BY 1, 2, 3, 4, 5`;
    found.push(...(await compareRollups(db, { table, columns }, rows, again, limit - found.length)));
  }
  return found;
}

/** Returns the differences between the rollups of usage and its rows; `name` is the digest. */
export async function compareUsage(
  db: Queryable,
  { seq, usageFrom }: Pick<Progress, 'seq' | 'usageFrom'>,
  limit: number,
): Promise<Difference[]> {
  if (limit <= 0) return [];
  const isKept = (at: string) => (usageFrom === null ? 'true' : `${at} >= '${new Date(usageFrom).toISOString()}'`);
  const columns = ['quantity', 'microcredits'];
  const as = `project_id, workflow_id, 0 AS grain, bucket, tenant_id || ' ' || digest AS name, ${columns.join(', ')}`;
  const usage = usageRollupQuery(`seq <= ${seq} AND ${isKept('created_at')}`);
  const sums = `SELECT ${as} FROM usage_sums WHERE ${isKept('bucket')}`;
  return await compareRollups(db, { table: 'usage_sums', columns }, sums, `SELECT ${as} FROM (${usage}) u`, limit);
}
