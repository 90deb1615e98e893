import fc from 'fast-check';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Principal } from '../../../operation/context.ts';
import type { Services } from '../../../operation/services.ts';
import { ManualClock } from '../../../platform/clock.ts';
import { newId } from '../../../platform/ids.ts';
import { ensurePartitions } from '../../../platform/postgres/partitions.ts';
import { createCall } from '../../../testing/call.ts';
import { createTestMember, createTestServices, createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import { aggregateUsage } from '../../analytics/usage-rollup-store.ts';
import { usageOperations } from './operations.ts';
import { queryUsage } from './rollup-store.ts';
import { listUsage, pagesOfUsage, type UsageEntry, type UsageFilter } from './store.ts';

/**
 * Generates a year of usage of one workspace: commits of one to four attempts each, of ten workflows, tools, models and
 * people. The assertions are the same as at 1,000,000 runs: every query uses an index, and reads no more rows than a
 * page has.
 */
const COMMITS = 12_000;
/** The id of a run, as SQL. */
const runOf = (n: string) => `overlay(overlay(md5((${n})::text) placing '7' from 13) placing '8' from 17)::uuid`;
const DAY = 86_400_000;
const FROM = Date.UTC(2026, 0, 1);
const TO = Date.UTC(2026, 11, 1);
const workflows = Array.from({ length: 10 }, () => newId());
const projects = [newId(), newId()];
let db: TestDatabase;
let services: Services;
let tenant: TestTenant;
let busy: Principal;
let call: ReturnType<typeof createCall<typeof usageOperations>>;

beforeAll(async () => {
  db = await createTestDatabase();
  const clock = new ManualClock(TO);
  services = createTestServices(db, { clock });
  tenant = await createTestTenant(services, { slug: 'acme' });
  busy = tenant.owner;
  call = createCall(services, usageOperations);
  const logger = pino({ level: 'silent' });
  for (let month = 0; month < 12; month += 3)
    await ensurePartitions(db.pool, new ManualClock(Date.UTC(2026, month, 2)), logger);
  await db.pool.query(
    `INSERT INTO run_usage (id, tenant_id, project_id, workflow_id, action, quantity, microcredits, attempts, created_at,
                            step_type, subject, outcome, started_by)
     SELECT gen_random_uuid(), CASE WHEN n % 50 = 49 THEN 'other' ELSE 'acme' END, ($5::uuid[])[1 + n % 2],
            ($4::uuid[])[1 + n % 10], action, lines * each, CASE WHEN price > 0 THEN lines * each * price ELSE 0 END,
            (SELECT json_agg(CASE WHEN price > 0 THEN json_build_array(${runOf('n / 3')}, 'step_' || line, line, each)
                                  ELSE json_build_array(${runOf('n / 3')}) END)
             FROM generate_series(1, lines) line),
            to_timestamp(($2::float8 + ($3::float8 - $2::float8) * (n / 2) / ($1 / 2)) / 1000)::timestamptz(3),
            CASE WHEN price > 0 THEN (ARRAY['lua_script', 'mcp_call', 'llm_call'])[1 + n % 3] ELSE '' END,
            CASE action WHEN 'tool_call' THEN 'tool_' || n % 150 WHEN 'workflow_step' THEN '' WHEN 'run_started' THEN 'api'
                        ELSE 'acme/model-' || n % 4 END,
            CASE action WHEN 'workflow_step' THEN 'completed' ELSE '' END, 'user' || n % 7 || '@example.com'
     FROM (SELECT n, 1 + n % 4 AS lines, action, CASE action WHEN 'run_started' THEN 0 ELSE 5 END AS price,
                  CASE WHEN action LIKE 'llm%' THEN 100 ELSE 1 END AS each
           FROM (SELECT n, (ARRAY['workflow_step', 'workflow_step', 'tool_call', 'llm_input_tokens', 'llm_output_tokens',
                                  'run_started'])[1 + n % 6] AS action
                 FROM generate_series(0, $1::int - 1) n) numbered) made`,
    [COMMITS, FROM, TO, workflows, projects],
  );
  // Half of the usage is rolled up, half is not yet.
  const { rows } = await db.pool.query('SELECT min(seq)::int + $1 AS half FROM run_usage', [COMMITS / 2]);
  await aggregateUsage(db.pool, [0, rows[0].half, null, null]);
  await db.pool.query('UPDATE analytics_progress SET seq = $1', [rows[0].half]);
  await db.pool.query('ANALYZE run_usage, usage_sums');
});
afterAll(() => db.close());

type Plan = {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  Plans?: Plan[];
} & {
  'Rows Removed by Filter'?: number;
};

/** The number of rows that a plan reads from tables, and the tables that it scans completely. */
function workOf(plan: Plan): { read: number; scanned: string[] } {
  const inner = (plan.Plans ?? []).map(workOf);
  const table = plan['Relation Name'];
  const read =
    table === undefined ? 0 : (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'];
  const scanned = plan['Node Type'] === 'Seq Scan' && read > 20 && table !== undefined ? [table] : [];
  return {
    read: inner.reduce((sum, work) => sum + work.read, read),
    scanned: [...scanned, ...inner.flatMap(work => work.scanned)],
  };
}

/** Runs a query; returns its answer and its cost. */
async function explained<T>(
  question: (pool: Pool) => Promise<T>,
): Promise<{ answer: T; read: number; scanned: string[] }> {
  const plans: Plan[] = [];
  const pool = {
    async query(text: string, values: unknown[]) {
      const { rows } = await db.pool.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values);
      plans.push(rows[0]['QUERY PLAN'][0].Plan);
      return db.pool.query(text, values);
    },
  } as unknown as Pool;
  const answer = await question(pool);
  const work = plans.map(workOf);
  return {
    answer,
    read: Math.max(...work.map(({ read }) => read)),
    scanned: work.flatMap(({ scanned }) => scanned),
  };
}

const everything = async (filter: UsageFilter, size?: number): Promise<UsageEntry[]> => {
  const found: UsageEntry[] = [];
  for await (const page of pagesOfUsage(db.pool, 'acme', filter, size)) found.push(...page);
  return found;
};
const keyOf = ({ key }: UsageEntry) => `${String(key.at).padStart(15)} ${key.id} ${String(key.line).padStart(9)}`;
/** Returns all billable lines of the workspace, computed without the code under test. */
async function expected(where = 'true', values: unknown[] = []) {
  const { rows } = await db.pool.query<{ lines: number; microcredits: string }>(
    `SELECT coalesce(sum(json_array_length(attempts)), 0)::int AS lines, coalesce(sum(microcredits), 0) AS microcredits
     FROM run_usage WHERE tenant_id = 'acme' AND action NOT LIKE 'run_%' AND ${where}`,
    values,
  );
  return { lines: rows[0]?.lines ?? 0, microcredits: Number(rows[0]?.microcredits) };
}

describe('the history', () => {
  test('has every line once, newest first, for any page size', async () => {
    const from = Date.UTC(2026, 4, 1);
    const to = Date.UTC(2026, 4, 3);
    const whole = await everything({ from, to });
    expect(whole.map(keyOf)).toEqual(whole.map(keyOf).sort().reverse());
    const { lines, microcredits } = await expected('created_at >= $1 AND created_at < $2', [
      new Date(from),
      new Date(to),
    ]);
    expect(whole).toHaveLength(lines);
    expect(whole.reduce((sum, entry) => sum + entry.quantity * entry.price, 0)).toBe(microcredits);
    for (const size of [1, 2, 7, 50]) expect(await everything({ from, to }, size)).toEqual(whole);
  });

  test('reads any page by an index', async () => {
    for (const after of [null, { at: Date.UTC(2026, 5, 15), id: 'ffffffff-ffff-4fff-bfff-ffffffffffff', line: 1 }]) {
      const { answer, read, scanned } = await explained(pool => listUsage(pool, 'acme', {}, { after, limit: 201 }));
      expect(answer).toHaveLength(201);
      expect(scanned).toEqual([]);
      expect(read).toBeLessThan(2_000);
    }
    const day = { from: Date.UTC(2026, 2, 3), to: Date.UTC(2026, 2, 4) };
    const { read, scanned } = await explained(pool => listUsage(pool, 'acme', day, { after: null, limit: 51 }));
    expect(scanned).toEqual([]);
    expect(read).toBeLessThan(500);
  });

  test.each<[string, UsageFilter, string, unknown[]]>([
    ['workflow', { workflow: workflows[3] }, 'workflow_id = $1', [workflows[3]]],
    ['project', { projects: [projects[1] ?? ''] }, 'project_id = $1', [projects[1]]],
    ['action', { action: 'tool_call' }, 'action = $1', ['tool_call']],
    ['step type', { stepType: 'llm_call' }, 'step_type = $1', ['llm_call']],
    ['subject', { subject: 'tool_8' }, 'subject = $1', ['tool_8']],
    ['person', { startedBy: 'user3@example.com' }, 'started_by = $1', ['user3@example.com']],
  ])('of one %s is exact', async (_, filter, where, values) => {
    const found = await everything(filter);
    const { lines, microcredits } = await expected(where, values);
    expect(lines).toBeGreaterThan(0);
    expect(found).toHaveLength(lines);
    expect(found.reduce((sum, entry) => sum + entry.quantity * entry.price, 0)).toBe(microcredits);
  });

  test('of one run is exact, whether the run still exists or not', async () => {
    const { rows } =
      await db.pool.query(`SELECT ${runOf('600')} AS id, min(created_at) AS first, max(created_at) AS last
      FROM run_usage, json_array_elements(attempts) l WHERE l->>0 = ${runOf('600')}::text`);
    const { id, first, last } = rows[0];
    const found = await everything({ run: id }, 2);
    expect(found.length).toBeGreaterThan(2);
    expect(new Set(found.map(({ runId }) => runId))).toEqual(new Set([id]));
    // Usage of one workflow, as for runs of the engine.
    const mine = found.filter(({ workflowId }) => workflowId === found[0]?.workflowId);
    await db.pool.query(
      `INSERT INTO runs (id, tenant_id, project_id, workflow_id, version, status, orchestration_phase, session_id, trigger_type,
                         started_by, started_at, ended_at, steps_total, steps_done, pending_tasks, last_seq)
       VALUES ($1, 'acme', $2, $3, 1, 'completed', 'complete', '', 'api', '', $4, $5, 1, 1, 0, 1)`,
      [id, projects[0], mine[0]?.workflowId, first, last],
    );
    const { answer, read } = await explained(pool => listUsage(pool, 'acme', { run: id }, { after: null, limit: 51 }));
    expect(answer).toEqual(mine);
    expect(read).toBeLessThan(500);
    const [sums] = await queryUsage(db.pool, 'acme', { run: id }, { by: [['action']], timeZone: 'UTC', now: TO });
    expect(sums?.reduce((sum, { microcredits }) => sum + microcredits, 0)).toBe(
      mine.reduce((sum, entry) => sum + entry.quantity * entry.price, 0),
    );
  });

  test('is requested in pages', async () => {
    type Page = {
      usage: { id: string; microcredits: number; unit_microcredits: number; quantity: number }[];
      next_cursor: string;
    };
    const first = (await call(busy, 'billing_usage_history', { limit: 3 })) as Page;
    const second = (await call(busy, 'billing_usage_history', { limit: 3, cursor: first.next_cursor })) as Page;
    const both = (await call(busy, 'billing_usage_history', { limit: 6 })) as Page;
    expect([...first.usage, ...second.usage]).toEqual(both.usage);
    for (const line of both.usage) expect(line.microcredits).toBe(line.quantity * line.unit_microcredits);
    await expect(call(busy, 'billing_usage_history', { cursor: 'W10' })).rejects.toMatchObject({ status: 422 });
    const other = { ...busy, tenantId: 'nobody' };
    expect(await call(other, 'billing_usage_history')).toEqual({ usage: [], next_cursor: null });
  });
});

describe('the export', () => {
  test('has the lines of the history, and is refused if they are too many', async () => {
    const period = { from: '2026-05-01T00:00:00.000Z', to: '2026-05-02T00:00:00.000Z' };
    const csv = (await call(busy, 'billing_usage_export', period)) as string;
    const lines = csv.trimEnd().split('\r\n');
    expect(lines[0]).toMatch(/^at,action,quantity,unit_microcredits,microcredits,workflow_id/);
    const found = await everything({ from: Date.parse(period.from), to: Date.parse(period.to) });
    expect(lines.slice(1).map(line => line.split(',').slice(1, 3))).toEqual(
      found.map(({ action, quantity }) => [action, String(quantity)]),
    );
  });
});

describe('the dimensions', () => {
  type Item = { key: string; label: string; quantity: number; microcredits: number };
  type Dimensions = {
    from: string;
    to: string;
    total_microcredits: number;
    dimensions: { by: string; items: Item[] }[];
  };
  const readDimensions = async (input: Record<string, unknown>, who = busy) =>
    (await call(who, 'billing_usage_dimensions', input)) as Dimensions;
  const year = { from: '2026-01-01T00:00:00.000Z', to: '2027-01-01T00:00:00.000Z' };
  const itemsOf = (answer: Dimensions, by: string) => answer.dimensions.find(each => each.by === by)?.items ?? [];
  const total = (items: readonly Item[]) => items.reduce((sum, { microcredits }) => sum + microcredits, 0);

  test('each add up to their own total', async () => {
    const answer = await readDimensions(year);
    const { microcredits } = await expected();
    expect(answer.total_microcredits).toBe(microcredits);
    for (const by of ['workflow', 'action', 'step_type', 'user', 'day'])
      expect(total(itemsOf(answer, by))).toBe(microcredits);
    expect(total(itemsOf(answer, 'tool'))).toBe((await expected(`action = 'tool_call'`)).microcredits);
    expect(total(itemsOf(answer, 'model'))).toBe((await expected(`action LIKE 'llm%'`)).microcredits);
    expect(itemsOf(answer, 'workflow')).toHaveLength(10);
    const sorted = itemsOf(answer, 'user').map(({ microcredits: each }) => each);
    expect(sorted).toEqual([...sorted].sort((a, b) => b - a));
  });

  test('are exact for any period, whether its quarters of an hour are rolled up or not', async () => {
    // Bounds are times of usage, or a millisecond before or after.
    const { rows } = await db.pool.query<{ at: string }>(
      `SELECT extract(epoch FROM created_at) * 1000 AS at FROM run_usage
       WHERE tenant_id = 'acme' AND action NOT LIKE 'run_%' ORDER BY created_at`,
    );
    const times = rows.map(({ at }) => Number(at));
    const near = fc.constantFrom(-1, 0, 1);
    const place = fc.integer({ min: 0, max: times.length - 1 });
    await fc.assert(
      fc.asyncProperty(place, near, fc.integer({ min: 0, max: 40 }), near, async (first, before, count, after) => {
        const from = (times[first] ?? 0) + before;
        const to = Math.max(from + 1, (times[first + count] ?? TO) + after);
        const period = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
        const answer = await readDimensions({ ...period, by: 'step_type' });
        const where = 'created_at >= $1 AND created_at < $2';
        expect(answer.total_microcredits).toBe((await expected(where, [period.from, period.to])).microcredits);
      }),
      { numRuns: 60 },
    );
  });

  test('read rollups, and only those rows that are not rolled up', async () => {
    const period = { from: FROM + 30 * DAY + 1, to: FROM + 60 * DAY };
    const { read, scanned } = await explained(pool =>
      queryUsage(pool, 'acme', period, { by: [['workflow'], ['day']], timeZone: 'Asia/Kathmandu', now: TO }),
    );
    expect(scanned).toEqual([]);
    const inPeriod = `SELECT FROM usage_sums WHERE tenant_id = 'acme' AND bucket >= $1 AND bucket < $2`;
    const { rowCount } = await db.pool.query(inPeriod, [new Date(period.from), new Date(period.to)]);
    expect(rowCount).toBeGreaterThan(100);
    expect(read).toBeGreaterThanOrEqual(rowCount ?? 0);
    expect(read).toBeLessThan(2 * (rowCount ?? 0));
  });

  test('show a hundred items, and the rest as `other`', async () => {
    const days = itemsOf(await readDimensions({ ...year, by: 'day' }), 'day');
    expect(days).toHaveLength(101);
    expect(days.at(-1)).toMatchObject({ key: 'other' });
    expect(days[0]?.key).toBe('2026-08-23');
    expect(days.at(-2)?.key).toBe('2026-11-30');
  });

  test('use the days of the time zone', async () => {
    const two = { from: '2026-05-01T00:00:00.000Z', to: '2026-05-02T00:00:00.000Z', by: 'day' };
    expect(itemsOf(await readDimensions(two), 'day').map(({ key }) => key)).toEqual(['2026-05-01']);
    const kiritimati = itemsOf(await readDimensions({ ...two, time_zone: 'Pacific/Kiritimati' }), 'day');
    expect(kiritimati.map(({ key }) => key)).toEqual(['2026-05-01', '2026-05-02']);
    await expect(readDimensions({ ...two, time_zone: 'Mars/Base' })).rejects.toMatchObject({ status: 422 });
    await expect(readDimensions({ from: two.to, to: two.from })).rejects.toMatchObject({ status: 422 });
  });

  test('name people and workflows', async () => {
    await createTestMember(services, tenant.owner, 'project_viewer', 'user3@example.com');
    const items = itemsOf(await readDimensions({ ...year, by: 'user' }), 'user');
    expect(items.find(({ key }) => key === 'user3@example.com')?.label).toBe('user3');
    expect(items.find(({ key }) => key === 'user4@example.com')?.label).toBe('user4@example.com');
  });

  test('are limited to their own projects for viewers', async () => {
    expect((await readDimensions(year, tenant.viewer)).total_microcredits).toBe(0);
    const { rows } = await db.pool.query('UPDATE run_usage SET project_id = $1 WHERE project_id = $2 RETURNING id', [
      tenant.viewer.projectId,
      projects[1],
    ]);
    expect(rows.length).toBeGreaterThan(0);
    await db.pool.query('UPDATE usage_sums SET project_id = $1 WHERE project_id = $2', [
      tenant.viewer.projectId,
      projects[1],
    ]);
    const answer = await readDimensions(year, tenant.viewer);
    expect(answer.total_microcredits).toBe((await expected('project_id = $1', [tenant.viewer.projectId])).microcredits);
    expect((await readDimensions({ ...year, project_id: projects[0] }, tenant.viewer)).total_microcredits).toBe(0);
  });

  test('without a period cover the last thirty days, or the billing period', async () => {
    expect(await readDimensions({})).toMatchObject({
      from: '2026-11-01T00:00:00.001Z',
      to: '2026-12-01T00:00:00.001Z',
    });
  });
});
