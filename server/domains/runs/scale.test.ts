import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readEvents, readPayload } from '../../orchestrator/log/index.ts';
import { createLogReader } from '../../orchestrator/log/log-reader.ts';
import { ALL_SHARDS } from '../../orchestrator/shards/slot.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { generateHistory, SCALE } from '../../testing/run-scale.ts';
import { listAnsweredTasks, listPendingTasks, type TaskKey } from '../tasks/store.ts';
import { findPayloads, listResultEvents, listRuns, type RunFilter } from './store.ts';

/**
 * Tests the lists on generated data: 50,000 runs and 500,000 events here; docs/operations.md has the results for
 * 1,000,000 and 20,000,000. Both sizes have the same assertions: each query uses an index, and reads rows in proportion
 * to the page, not to the table.
 */
let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await generateHistory(db.pool, { runs: 50_000, events: 10 });
});
afterAll(() => db.close());

type Plan = {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: Plan[];
};

/**
 * Returns the work of a statement: the rows that its scans read, the rows that it sorted, and the tables that it
 * scanned completely.
 */
function workOf(plan: Plan): { read: number; sorted: number; scanned: string[] } {
  const work = { read: 0, sorted: 0, scanned: [] as string[] };
  const visit = (node: Plan) => {
    const loops = node['Actual Loops'];
    if (node['Relation Name'] !== undefined) {
      const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
      work.read += (node['Actual Rows'] + removed) * loops;
      // The DEFAULT partition is empty here, so any plan may read it.
      if (node['Node Type'] === 'Seq Scan' && loops > 0 && node['Actual Rows'] + removed > 20)
        work.scanned.push(node['Relation Name']);
    }
    if (node['Node Type'] === 'Sort') for (const input of node.Plans ?? []) work.sorted += input['Actual Rows'] * loops;
    for (const child of node.Plans ?? []) visit(child);
  };
  visit(plan);
  return work;
}

/** Returns a pool that explains each statement before it executes the statement. */
function explaining(pool: Pool, seen: Plan[]): Pool {
  const query = async (statement: string | { text: string; values?: unknown[] }, values?: unknown[]) => {
    const text = typeof statement === 'string' ? statement : statement.text;
    const given = (typeof statement === 'string' ? values : statement.values) ?? [];
    const { rows } = await pool.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, given);
    seen.push(rows[0]['QUERY PLAN'][0].Plan);
    return pool.query(text, given);
  };
  return { query } as unknown as Pool;
}

/** Runs `question` and asserts that it used indexes and read at most `most` rows. Returns its answer. */
async function bounded<T>(question: (pool: Pool) => Promise<T>, most = 2_000): Promise<T> {
  const plans: Plan[] = [];
  const answer = await question(explaining(db.pool, plans));
  expect(plans.length).toBeGreaterThan(0);
  for (const plan of plans) {
    const work = workOf(plan);
    expect(work, JSON.stringify(plan)).toMatchObject({ scanned: [] });
    expect(work.read).toBeLessThanOrEqual(most);
    expect(work.sorted).toBeLessThanOrEqual(most);
  }
  return answer;
}

const list = (filter: Partial<RunFilter>, most?: number) =>
  bounded(pool => listRuns(pool, SCALE.tenant, SCALE.projects, { after: null, limit: 51, ...filter }), most);
/**
 * Lists runs that match a search, with a higher row limit: it reads frequent, rare and looked-up matches in two
 * projects.
 */
const search = (filter: Partial<RunFilter>) => list(filter, 12_000);
const [busy, quiet] = SCALE.workflows;
const middle = new Date(Date.UTC(2026, 5, 15));
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

describe('runs', () => {
  test('newest first, from any position', async () => {
    expect(await list({})).toHaveLength(51);
    const page = await list({ after: { at: middle, id: lastId } });
    expect(page).toHaveLength(51);
    expect(page[0]?.started_at.getTime()).toBeLessThanOrEqual(middle.getTime());
    expect(await list({ from: middle, to: new Date(middle.getTime() + 3_600_000) })).not.toEqual([]);
  });

  test.each(['running', 'paused', 'completed', 'failed', 'stopped'])('%s', async status => {
    const found = await list({ status });
    expect(found).toHaveLength(status === 'paused' ? 0 : 51);
    expect(found.every(run => run.status === status)).toBe(true);
    // The busy workflow has no failed runs, and all runs of the other have ended: a query without results must not read
    // all of them.
    const none = { busy: ['paused', 'failed', 'stopped'], quiet: ['paused', 'running'] };
    for (const [name, workflowId] of Object.entries({ busy, quiet })) {
      const some = await list({ status, workflowId, after: { at: middle, id: lastId } });
      expect(some.length > 0).toBe(!none[name as keyof typeof none].includes(status));
    }
  });

  test('of workflows that people edit, regardless of how many newer runs of agents there are', async () => {
    const agent = '01900000-0000-7000-8000-00000000ff01';
    await db.pool.query(
      `INSERT INTO runs SELECT r.* FROM runs t CROSS JOIN LATERAL json_populate_record(t, json_build_object(
         'id', gen_random_uuid(), 'workflow_id', $2::uuid, 'started_at', to_timestamp($3::float8 / 1000), 'hidden', true)) r
        WHERE t.project_id = $1 AND t.ended_at IS NOT NULL LIMIT 5000`,
      [SCALE.projects[0], agent, SCALE.to],
    );
    await db.pool.query('ANALYZE runs');
    for (const more of [{}, { status: 'failed' }, { status: 'completed' }]) {
      const found = await list(more, 500);
      expect(found).toHaveLength(51);
      expect(found.map(run => run.workflow_id)).not.toContain(agent);
    }
    await db.pool.query('DELETE FROM runs WHERE workflow_id = $1', [agent]);
  });

  test('of one workflow', async () => {
    for (const workflowId of [busy, quiet]) expect(await list({ workflowId })).toHaveLength(51);
    expect(await list({ workflowId: quiet, from: middle })).toHaveLength(51);
  });

  test('runs whose id starts with q, regardless of how old and rare they are', async () => {
    const { rows } = await db.pool.query(
      `SELECT id, session_id FROM runs WHERE tenant_id = $1 AND session_id LIKE 'customer-%' ORDER BY started_at LIMIT 1`,
      [SCALE.tenant],
    );
    const { id, session_id: session } = rows[0];
    expect((await search({ q: id })).map(run => run.id)).toEqual([id]);
    expect((await search({ q: id.slice(0, 9).toUpperCase() })).map(run => run.id)).toContain(id);
    expect((await search({ q: session })).map(run => run.id)).toContain(id);
    for (const q of ['api', 'webhook', 'sched', 'customer', 'import', '01'])
      expect(await search({ q })).toHaveLength(51);
    const imports = await search({ q: 'import', after: { at: new Date(SCALE.from + 5 * 86_400_000), id: lastId } });
    expect(imports.every(run => run.trigger_type === 'import-legacy')).toBe(true);
    expect(imports).toHaveLength(51);
  });

  test('the runs of the workflows whose name contains q, busy or quiet', async () => {
    for (const q of ['workflow', 'workflow 1', 'flow 2'])
      for (const more of [{}, { status: 'failed' }, { after: { at: middle, id: lastId } }]) {
        const found = await search({ q, ...more });
        expect(found.every(run => run.workflow_name.toLowerCase().includes(q))).toBe(true);
      }
    expect(await search({ q: 'workflow' })).toHaveLength(51);
  });

  test('a q without matches costs no more than one with matches', async () => {
    for (const q of ['zzz', 'ffffffff', 'customer-x', '%', '\\', 'ap_'])
      for (const status of [undefined, 'failed']) expect(await search({ q, status })).toEqual([]);
  });

  test('is exact: q finds the same as reading everything', async () => {
    for (const q of [
      'sched',
      'customer-4',
      'customer-12',
      'import',
      'api',
      '019c',
      'web',
      'workflow 1',
      'LOW 3',
      'work',
    ])
      for (const more of [{}, { status: 'failed' }, { workflowId: quiet }, { after: { at: middle, id: lastId } }]) {
        const found = await listRuns(db.pool, SCALE.tenant, SCALE.projects, { after: null, limit: 20, q, ...more });
        const filter = more as { status?: string; workflowId?: string; after?: { at: Date } };
        const { rows } = await db.pool.query(
          `SELECT id FROM runs WHERE tenant_id = $1 AND project_id = ANY($2) AND (starts_with(id::text, $3)
             OR starts_with(session_id, $3) OR starts_with(trigger_type, $3)
             OR workflow_id IN (SELECT id FROM workflows WHERE name ILIKE '%' || $3 || '%')) AND ($4::text IS NULL OR status = $4)
             AND ($5::uuid IS NULL OR workflow_id = $5) AND ($6::timestamptz IS NULL OR (started_at, id) < ($6, $7::uuid))
           ORDER BY started_at DESC, id DESC LIMIT 20`,
          [SCALE.tenant, SCALE.projects, q, filter.status, filter.workflowId, filter.after?.at, lastId],
        );
        expect(found.map(run => run.id)).toEqual(rows.map(row => row.id));
      }
  });
});

describe('runs with searchable values', () => {
  const order = async (): Promise<{ run_id: string; value: string; started_at: Date }> => {
    const { rows } = await db.pool.query(
      `SELECT * FROM run_search_values WHERE name = 'order' ORDER BY started_at LIMIT 1`,
    );
    return rows[0];
  };
  beforeAll(async () => {
    await db.pool.query(
      `INSERT INTO run_search_values (run_id, name, value, project_id, started_at)
       SELECT id, v.name, v.value, project_id, started_at FROM runs CROSS JOIN LATERAL (VALUES
         ('order', 'order-' || substr(id::text, 20)), ('country', CASE WHEN id::text LIKE '%0' THEN 'IS' ELSE 'DE' END)) v(name, value)
        WHERE id::text > '019c'`,
    );
    await db.pool.query('ANALYZE run_search_values');
  });

  test('a rare and a frequent value, from any position', async () => {
    const { run_id, value } = await order();
    const found = await list({ field: { name: 'order', value } }, 20);
    expect(found.map(run => run.id)).toEqual([run_id]);
    for (const country of ['DE', 'IS']) {
      const field = { name: 'country', value: country };
      const page = await list({ field }, 500);
      expect(page).toHaveLength(51);
      const [last] = page.slice(-1);
      const next = await list({ field, after: { at: last?.started_at ?? middle, id: last?.id ?? lastId } }, 500);
      expect(next[0]?.started_at.getTime()).toBeLessThanOrEqual(last?.started_at.getTime() ?? 0);
      expect(next.map(run => run.id)).not.toContain(last?.id);
    }
  });

  test('the beginning of a value, regardless of how old and rare it is; a search without a match costs no more', async () => {
    const { run_id, value } = await order();
    expect((await search({ q: value })).map(run => run.id)).toEqual([run_id]);
    for (const q of ['order', 'DE', 'IS']) expect(await search({ q })).toHaveLength(51);
    for (const q of ['order-z', 'D_', 'de', '%']) expect(await search({ q })).toEqual([]);
    for (const value of ['', 'FR', 'D%']) expect(await list({ field: { name: 'country', value } }, 20)).toEqual([]);
  });

  test('is exact: q finds the same as reading everything', async () => {
    const { value } = await order();
    for (const q of ['DE', 'I', 'order-8', value])
      for (const after of [undefined, middle]) {
        const key = after === undefined ? null : { at: after, id: lastId };
        const found = await listRuns(db.pool, SCALE.tenant, SCALE.projects, { after: key, limit: 20, q });
        const { rows } = await db.pool.query(
          `SELECT id FROM runs r WHERE tenant_id = $1 AND project_id = ANY($2) AND (starts_with(session_id, $3) OR EXISTS (
             SELECT FROM run_search_values v WHERE v.run_id = r.id AND starts_with(v.value, $3)))
             AND ($4::timestamptz IS NULL OR (started_at, id) < ($4, $5::uuid)) ORDER BY started_at DESC, id DESC LIMIT 20`,
          [SCALE.tenant, SCALE.projects, q, after, lastId],
        );
        expect(found.map(run => run.id)).toEqual(rows.map(row => row.id));
      }
  });
});

describe('one run among many', () => {
  test('its events, its values and its payloads are read from one partition', async () => {
    const { rows } = await db.pool.query('SELECT run_id, id FROM run_payloads LIMIT 1');
    const { run_id: runId, id: payloadId } = rows[0];
    const { rows: owner } = await db.pool.query('SELECT tenant_id FROM runs WHERE id = $1', [runId]);
    const tenantId = owner[0].tenant_id;
    const page = { tenantId, runId, after: 3, limit: 5 };
    expect(await bounded(pool => readEvents(pool, page), 20)).toHaveLength(5);
    expect(await bounded(pool => readEvents(pool, { ...page, stepId: 'step_7' }), 20)).toHaveLength(1);
    expect(await bounded(pool => listResultEvents(pool, runId), 20)).toHaveLength(10);
    expect(await bounded(pool => readPayload(pool, { tenantId, runId, payloadId }), 20)).toBeDefined();
    expect((await bounded(pool => findPayloads(pool, runId, [payloadId]), 20)).size).toBe(1);
    const { rows: plan } = await db.pool.query(`EXPLAIN SELECT FROM run_events WHERE run_id = '${runId}' AND seq > 3`);
    expect(
      plan
        .map(row => row['QUERY PLAN'])
        .join('\n')
        .match(/on run_events_\w+/g),
    ).toHaveLength(1);
  });
});

/** A person whose name has to be looked up for each task. */
const READER = { userId: '00000000-0000-7000-8000-000000000001', email: 'somebody@example.com', isAdmin: false };

describe('the inbox, recovery and usage', () => {
  const waiting = 100;
  const inbox = (filter: Partial<Parameters<typeof listPendingTasks>[3]>) =>
    bounded(pool =>
      listPendingTasks(pool, SCALE.tenant, SCALE.projects, {
        workflowId: undefined,
        q: undefined,
        assignee: undefined,
        dueBefore: undefined,
        after: null,
        limit: 51,
        reader: READER,
        ...filter,
      }),
    );
  const history = (after: TaskKey | null) =>
    bounded(pool =>
      listAnsweredTasks(pool, SCALE.tenant, SCALE.projects, {
        workflowId: undefined,
        q: undefined,
        completedBy: undefined,
        after,
        limit: 51,
        reader: READER,
      }),
    );

  test('answered tasks are read newest first, page by page', async () => {
    const first = await history(null);
    expect(first).toHaveLength(51);
    const last = first[50];
    const after = { at: last?.completed_at ?? new Date(0), runId: last?.run_id ?? '', stepId: last?.step_id ?? '' };
    const seen = new Set(first.map(({ run_id }) => run_id));
    const next = await history(after);
    expect(next).toHaveLength(51);
    expect(next.filter(({ run_id }) => seen.has(run_id))).toEqual([]);
  });

  test('pending tasks are found among the pending ones', async () => {
    expect(await inbox({})).toHaveLength(51);
    expect(await inbox({ assignee: 'ANN@example.com' })).toHaveLength(51);
    expect(await inbox({ assignee: 'nobody@example.com' })).toEqual([]);
    const after = { at: new Date(SCALE.from + 86_400_000), runId: lastId, stepId: 'approve' };
    expect((await inbox({ after })).length).toBeLessThan(51);
  });

  test('a start reads only the runs that have not ended', async () => {
    const readBounded = <T>(question: (reader: ReturnType<typeof createLogReader>) => Promise<T>) =>
      bounded(pool => question(createLogReader(pool)), waiting + 50);
    const active = await readBounded(reader => reader.countActiveRuns(ALL_SHARDS));
    for (const counts of [active.byTenant, active.byStatus])
      expect([...counts.values()].reduce((a, b) => a + b, 0)).toBe(waiting);
    expect(await readBounded(reader => reader.movingRuns(ALL_SHARDS, null, 500))).toEqual([]);
    expect(await readBounded(reader => reader.wakeUpTimers(ALL_SHARDS))).toEqual([]);
  });

  test("a tenant's usage is read page by page", async () => {
    const { rows } = await bounded(pool =>
      pool.query(
        `SELECT id, created_at FROM run_usage WHERE tenant_id = $1 AND (created_at, id) < ($2, $3::uuid)
         ORDER BY created_at DESC, id DESC LIMIT 51`,
        ['tenant-19', middle, lastId],
      ),
    );
    expect(rows).toHaveLength(51);
  });
});
