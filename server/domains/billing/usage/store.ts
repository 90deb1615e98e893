import type { Pool } from 'pg';
import { BILLABLE_ACTIONS, type BillableAction } from '../../../orchestrator/ports/billable-actions.ts';
import { toMicrocredits } from '../../../orchestrator/ports/microcredits.ts';
import { camelCased } from '../../../platform/postgres/rows.ts';

/** The filters of usage; times in ms since the epoch, `from` inclusive, `to` exclusive. */
export type UsageFilter = {
  from?: number | undefined;
  to?: number | undefined;
  /** Restricts the usage to these projects. */
  projects?: readonly string[] | undefined;
  workflow?: string | undefined;
  run?: string | undefined;
  action?: BillableAction | undefined;
  stepType?: string | undefined;
  subject?: string | undefined;
  startedBy?: string | undefined;
};

/** The end of a page, which may be within a row of usage: a row has a line for each attempt of a commit. */
export type UsageKey = { at: number; id: string; line: number };

/** One line, and its position. */
export type UsageEntry = {
  key: UsageKey;
  action: BillableAction;
  projectId: string;
  workflowId: string;
  workflowName: string | null;
  runId: string;
  stepId: string;
  attempt: number;
  stepType: string;
  subject: string;
  startedBy: string;
  quantity: number;
  price: number;
};

type Row = Omit<UsageEntry, 'key' | 'runId' | 'stepId' | 'attempt' | 'quantity' | 'price'> & {
  id: string;
  createdAt: Date;
  line: string;
  attempt: [runId: string, stepId: string, attempt: number, quantity: number];
  price: string;
};

/**
 * Returns lines of a workspace's usage, newest first, by the index on (tenant, time, id); within a row, from its last
 * line back. A page unnests at most as many rows as it has lines, since every row has at least one line. Only a filter
 * by run may need more rows, and is then limited to the time during which the run was active.
 */
export async function listUsage(
  pool: Pool,
  tenantId: string,
  filter: UsageFilter,
  { after, limit }: { after: UsageKey | null; limit: number },
): Promise<UsageEntry[]> {
  const { values, where, parameter } = conditions(tenantId, filter);
  const ofLine: string[] = [];
  if (after !== null) {
    const [at, id, line] = [new Date(after.at), after.id, after.line].map(parameter);
    where.push(`(u.created_at, u.id) <= (${at}::timestamptz, ${id}::uuid)`);
    ofLine.push(`((u.created_at, u.id) < (${at}::timestamptz, ${id}::uuid) OR l.line < ${line}::bigint)`);
  }
  if (filter.run !== undefined) ofLine.push(`l.attempt->>0 = ${parameter(filter.run)}`);
  const most = parameter(limit);
  // The row at the cursor may have no lines left.
  const rowsOfPage = filter.run === undefined ? `LIMIT ${most}::bigint + 1` : '';
  const { rows } = await pool.query(
    `SELECT u.id, u.created_at, l.line, l.attempt, u.action, u.project_id, u.workflow_id, w.name AS workflow_name,
            u.step_type, u.subject, u.started_by, u.microcredits / greatest(u.quantity, 1) AS price
     FROM (SELECT * FROM run_usage u WHERE ${where.join(' AND ')} ORDER BY u.created_at DESC, u.id DESC ${rowsOfPage}) u
     CROSS JOIN LATERAL json_array_elements(u.attempts) WITH ORDINALITY l(attempt, line)
     LEFT JOIN workflows w ON w.id = u.workflow_id AND w.tenant_id = u.tenant_id
     ${ofLine.length > 0 ? `WHERE ${ofLine.join(' AND ')}` : ''}
     ORDER BY u.created_at DESC, u.id DESC, l.line DESC LIMIT ${most}`,
    values,
  );
  return camelCased<Row>(rows).map(toEntry);
}

function toEntry({ id, createdAt, line, attempt: values, price, ...row }: Row): UsageEntry {
  const [runId, stepId, attempt, quantity] = values;
  const key = { at: createdAt.getTime(), id, line: Number(line) };
  return { ...row, key, runId, stepId, attempt, quantity, price: toMicrocredits(price) };
}

/** Yields all matching usage, in pages of `size` lines. */
export async function* pagesOfUsage(
  pool: Pool,
  tenantId: string,
  filter: UsageFilter,
  size = 5_000,
): AsyncGenerator<UsageEntry[]> {
  let after: UsageKey | null = null;
  for (;;) {
    const page: UsageEntry[] = await listUsage(pool, tenantId, filter, { after, limit: size });
    if (page.length > 0) yield page;
    if (page.length < size) return;
    after = page.at(-1)?.key ?? null;
  }
}

/**
 * Returns the WHERE clause of a filter: only the tenant's billable usage. `u` stands for rows of run_usage, or of
 * another relation with its columns. `parameter` adds a value to `values`.
 */
export function conditions(tenantId: string, filter: UsageFilter) {
  const values: unknown[] = [];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const where = [`u.tenant_id = ${parameter(tenantId)}`, `u.action = ANY(${parameter(BILLABLE_ACTIONS)})`];
  const equal = (column: string, value: string | undefined) => {
    if (value !== undefined) where.push(`${column} = ${parameter(value)}`);
  };
  if (filter.from !== undefined) where.push(`u.created_at >= ${parameter(new Date(filter.from))}`);
  if (filter.to !== undefined) where.push(`u.created_at < ${parameter(new Date(filter.to))}`);
  if (filter.projects !== undefined) where.push(`u.project_id = ANY(${parameter(filter.projects)}::uuid[])`);
  equal('u.workflow_id', filter.workflow);
  equal('u.action', filter.action);
  equal('u.step_type', filter.stepType);
  equal('u.subject', filter.subject);
  equal('u.started_by', filter.startedBy);
  if (filter.run !== undefined) where.push(...duringRun(parameter(filter.run), '$1'));
  return { values, where, parameter };
}

/**
 * Returns conditions for the rows that may contain a run's usage: rows of its workflow, in the quarters of an hour
 * during which it was active (within one quarter, the engine shares rows among runs). A run that retention has purged
 * has no such limits.
 */
function duringRun(run: string, tenant: string): string[] {
  const runColumn = (column: string) =>
    `(SELECT ${column} FROM runs r WHERE r.id = ${run} AND r.tenant_id = ${tenant})`;
  const quarter = `interval '15 minutes'`;
  return [
    `u.created_at >= coalesce(${runColumn(`r.started_at - ${quarter}`)}, '-infinity')`,
    `u.created_at <= coalesce(${runColumn(`r.ended_at + ${quarter}`)}, 'infinity')`,
    `u.workflow_id = coalesce(${runColumn('r.workflow_id')}, u.workflow_id)`,
  ];
}

async function findNames(pool: Pool, sql: string, tenantId: string, keys: string[]): Promise<Map<string, string>> {
  const { rows } = await pool.query<{ key: string; name: string }>(sql, [tenantId, keys]);
  return new Map(rows.map(row => [row.key, row.name]));
}

/** Returns names of the tenant's workflows by their ids. */
export function findWorkflowNames(pool: Pool, tenantId: string, ids: string[]): Promise<Map<string, string>> {
  const sql = 'SELECT id::text AS key, name FROM workflows WHERE tenant_id = $1 AND id::text = ANY($2)';
  return findNames(pool, sql, tenantId, ids);
}

/** Returns names of the tenant's members by their addresses. */
export function findMemberNames(pool: Pool, tenantId: string, emails: string[]): Promise<Map<string, string>> {
  const sql = `SELECT u.email AS key, u.name FROM users u JOIN memberships m ON m.user_id = u.id
     WHERE m.tenant_id = $1 AND u.email = ANY($2)`;
  return findNames(pool, sql, tenantId, emails);
}

/** Returns when the present period started (ms since the epoch); null if the workspace is not onboarded yet. */
export async function findPeriodStart(pool: Pool, tenantId: string): Promise<number | null> {
  const { rows } = await pool.query<{ current_period_start: Date }>(
    'SELECT current_period_start FROM subscriptions WHERE tenant_id = $1',
    [tenantId],
  );
  return rows[0]?.current_period_start.getTime() ?? null;
}
