import fc from 'fast-check';
import pg, { type Pool } from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ManualClock } from '../../platform/clock.ts';
import { insertUsage, readAllRollups, type TestUsage } from '../../testing/analytics.ts';
import { whileHeld } from '../../testing/held-numbers.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { aggregateAll, aggregateNext } from './aggregate.ts';
import { bucketOf, grains, wholeProject } from './buckets.ts';
import { binOf, Histogram } from './histogram.ts';
import { readProgress } from './progress-store.ts';

let db: TestDatabase;
const clock = new ManualClock(Date.UTC(2026, 5, 1));
beforeEach(async () => {
  db = await createTestDatabase();
  await insertAgent();
});
afterEach(() => db.close());

const project = (n: number) => `01900000-0000-7000-8000-00000000a00${n}`;
const workflow = (n: number) => `01900000-0000-7000-8000-00000000b00${n}`;
const AGENT = workflow(3);
const usage: fc.Arbitrary<TestUsage> = fc
  .record({
    n: fc.integer({ min: 0, max: 3 }),
    at: fc.integer({ min: Date.UTC(2026, 0, 30), max: Date.UTC(2026, 1, 2) }),
    kind: fc.constantFrom('started', 'ended', 'step', 'tool', 'in', 'out', 'old'),
    word: fc.constantFrom('api', 'manual', 'x', 'y'),
    outcome: fc.nat(2),
    durations: fc.array(fc.nat(1_000_000), { minLength: 1, maxLength: 4 }),
    quantity: fc.integer({ min: 1, max: 5_000 }),
    microcredits: fc.nat(1_000_000),
  })
  .map(({ n, at, kind, word, outcome, durations, quantity, microcredits }) => {
    const whose = { tenantId: `t${n >> 1}`, projectId: project(n >> 1), workflowId: workflow(n), at };
    const step = { ...whose, stepType: word === 'x' ? 'mcp_call' : 'llm_call', quantity, microcredits };
    switch (kind) {
      case 'started':
        return { ...whose, action: 'run_started', subject: word, quantity } as const;
      case 'ended':
        return { ...whose, action: 'run_ended', outcome: ['completed', 'failed', 'stopped'][outcome] ?? '', durations };
      case 'tool':
        return { ...step, action: 'tool_call', subject: word };
      case 'in':
        return { ...step, action: 'llm_input_tokens', subject: word };
      case 'out':
        return { ...step, action: 'llm_output_tokens', subject: word };
      case 'step':
        return { ...step, action: 'workflow_step', outcome: ['completed', 'failed', 'retried'][outcome] ?? '' };
      default:
        return { ...step, stepType: '', action: 'workflow_step' };
    }
  }) as fc.Arbitrary<TestUsage>;

/** The other workflow ids belong to no existing workflow, like those of workflows that were deleted long ago. */
const insertAgent = () =>
  db.pool.query(
    `INSERT INTO workflows (id, tenant_id, project_id, name, description, status, graph, run_setup, revision, graph_checksum,
       kind, created_by, created_at, updated_at)
     VALUES ($1, 't1', $2, 'Agent', '', 'published', '{}', '{}', 1, '', 'agent', $2, now(), now())`,
    [AGENT, project(1)],
  );

/** Computes the rollups in the simplest way. */
function summed(rows: readonly TestUsage[]): Record<string, unknown[]> {
  const tables: Record<string, Map<string, Record<string, unknown>>> = {
    analytics_totals: new Map(),
    analytics_triggers: new Map(),
    analytics_steps: new Map(),
    analytics_durations: new Map(),
    usage_sums: new Map(),
  };
  const histograms = new Map<Record<string, unknown>, Histogram>();
  const add = (table: string, key: Record<string, unknown>, columns: Record<string, number>) => {
    const text = JSON.stringify(key);
    const row = tables[table]?.get(text) ?? { ...key };
    for (const [name, value] of Object.entries(columns)) row[name] = Number(row[name] ?? 0) + value;
    tables[table]?.set(text, row);
    return row;
  };
  const textOf = (bucket: number) => new Date(bucket).toISOString().replace('.000Z', '+00:00');
  for (const row of rows) {
    const { tenantId: tenant_id, projectId: project_id, workflowId: workflow_id, action, subject = '' } = row;
    const about = { tenant_id, bucket: textOf(bucketOf(0, row.at)), project_id, workflow_id, action };
    if (!action.startsWith('run_'))
      add(
        'usage_sums',
        { ...about, step_type: row.stepType ?? '', subject, started_by: '' },
        { quantity: row.quantity ?? 1, microcredits: row.microcredits ?? 0 },
      );
    for (const grain of grains)
      for (const workflowId of [row.workflowId, wholeProject(row.workflowId === AGENT ? 'agent' : 'workflow')]) {
        const bucket = textOf(bucketOf(grain, row.at));
        const key = { tenant_id: row.tenantId, project_id: row.projectId, workflow_id: workflowId, grain, bucket };
        const quantity = row.durations?.length ?? row.quantity ?? 1;
        const microcredits = row.microcredits ?? 0;
        const outcome = row.action === 'workflow_step' ? row.outcome || 'completed' : row.outcome;
        const is = (action: string, of?: string) =>
          row.action === action && (of === undefined || of === outcome) ? quantity : 0;
        add('analytics_totals', key, {
          runs_started: is('run_started'),
          runs_completed: is('run_ended', 'completed'),
          runs_failed: is('run_ended', 'failed'),
          runs_stopped: is('run_ended', 'stopped'),
          steps_completed: is('workflow_step', 'completed'),
          steps_failed: is('workflow_step', 'failed'),
          steps_retried: is('workflow_step', 'retried'),
          tool_calls: is('tool_call'),
          llm_input_tokens: is('llm_input_tokens'),
          llm_output_tokens: is('llm_output_tokens'),
          step_microcredits: row.action === 'workflow_step' ? microcredits : 0,
          tool_call_microcredits: row.action === 'tool_call' ? microcredits : 0,
          llm_input_microcredits: row.action === 'llm_input_tokens' ? microcredits : 0,
          llm_output_microcredits: row.action === 'llm_output_tokens' ? microcredits : 0,
        });
        if (row.action === 'run_started')
          add('analytics_triggers', { ...key, trigger_type: row.subject }, { runs_started: quantity });
        else if (row.action === 'run_ended') {
          const durations = row.durations ?? [];
          const sum = add(
            'analytics_durations',
            { ...key, outcome },
            {
              runs: quantity,
              total_ms: durations.reduce((a, b) => a + b, 0),
            },
          );
          sum.min_ms = Math.min(...durations, Number(sum.min_ms ?? Number.POSITIVE_INFINITY));
          sum.max_ms = Math.max(...durations, Number(sum.max_ms ?? 0));
          const histogram = histograms.get(sum) ?? new Histogram();
          histograms.set(sum, histogram);
          for (const ms of durations) histogram.add(binOf(ms));
          sum.bins = `\\x${histogram.pack().toString('hex')}`;
        } else
          add(
            'analytics_steps',
            { ...key, step_type: row.stepType || 'unknown' },
            {
              completed: is('workflow_step', 'completed'),
              failed: is('workflow_step', 'failed'),
              retried: is('workflow_step', 'retried'),
              microcredits,
            },
          );
      }
  }
  return Object.fromEntries(Object.entries(tables).map(([name, sums]) => [name, [...sums.values()]]));
}

const sorted = (sums: Record<string, unknown[]>) =>
  Object.fromEntries(
    Object.entries(sums).map(([name, rows]) => [
      name,
      rows.map(row => JSON.stringify(Object.entries(row as object).sort(([a], [b]) => (a < b ? -1 : 1)))).sort(),
    ]),
  );
const expectRollups = async (rows: readonly TestUsage[]) =>
  expect(sorted(await readAllRollups(db.pool))).toEqual(sorted(summed(rows)));

async function clear(): Promise<void> {
  await db.pool.query(
    `TRUNCATE run_usage, analytics_totals, analytics_triggers, analytics_steps, analytics_durations, usage_sums`,
  );
  await db.pool.query(`UPDATE analytics_progress SET as_of = to_timestamp(0)`);
}

test('the rollups equal the totals of all usage, for any order and any batches', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(usage, { maxLength: 12 }), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 7 }),
      async (commits, batchRows) => {
        await clear();
        for (const rows of commits) {
          if (rows.length > 0) await insertUsage(db.pool, rows);
          expect(await aggregateAll(db.pool, clock, batchRows)).toBe(true);
        }
        await expectRollups(commits.flat());
      },
    ),
    { numRuns: 25 },
  );
});

const some: TestUsage[] = fc.sample(usage, { numRuns: 40, seed: 7 });

test('usage whose numbers are held while later usage is aggregated is still aggregated once', async () => {
  const [held, later] = [some.slice(0, 20), some.slice(20)];
  await whileHeld(
    db.pool,
    client => insertUsage(client, held),
    async () => {
      await insertUsage(db.pool, later);
      await aggregateAll(db.pool, clock, 7);
    },
  );
  await aggregateAll(db.pool, clock, 7);
  await expectRollups(some);
});

test('nothing is written while there is no new usage', async () => {
  await insertUsage(db.pool, some);
  await aggregateAll(db.pool, clock);
  const before = await db.pool.query('SELECT xmin, xmax, * FROM analytics_progress');
  clock.advance(60_000);
  expect(await aggregateNext(db.pool, clock)).toBe('done');
  expect((await db.pool.query('SELECT xmin, xmax, * FROM analytics_progress')).rows).toEqual(before.rows);
});

/** A pool whose sessions die at the n-th statement: before it is sent, or after it was executed. */
function dying(at: number, when: 'before' | 'after'): Pool {
  let count = 0;
  const connect = async () => {
    const client = new pg.Client({ connectionString: db.url });
    client.on('error', () => undefined);
    await client.connect();
    const query = async (...args: Parameters<typeof client.query>) => {
      count += 1;
      const die = async () => {
        await client.end();
        throw new Error('Connection terminated');
      };
      if (count === at && when === 'before') await die();
      const result = await (client.query as (...all: unknown[]) => Promise<unknown>)(...args);
      if (count === at) await die();
      return result;
    };
    return { query, release: () => client.end() };
  };
  return { connect, query: db.pool.query.bind(db.pool) } as unknown as Pool;
}

test('an aggregation that dies at any statement leaves rollups that the next one completes', async () => {
  for (const when of ['before', 'after'] as const)
    for (let at = 1, died = true; died; at++) {
      await clear();
      await insertUsage(db.pool, some);
      died = await aggregateAll(dying(at, when), clock, 25).then(
        () => false,
        () => true,
      );
      // The progress and the rollups are committed together, or neither is.
      const { rows } = await db.pool.query(
        `SELECT (SELECT count(*) FROM run_usage u, analytics_progress p WHERE u.seq <= p.seq)::int AS folded`,
      );
      expect([0, 25, 40]).toContain(rows[0].folded);
      await expectRollups(some.slice(0, rows[0].folded));
      await aggregateAll(db.pool, clock);
      await expectRollups(some);
      if (!died) expect(at).toBeGreaterThan(12);
    }
});

test('concurrent aggregations count each row once', async () => {
  for (let n = 0; n < some.length; n += 4) {
    await insertUsage(db.pool, some.slice(n, n + 4));
    const results = await Promise.all([1, 2, 3, 4].map(() => aggregateNext(db.pool, clock, 3)));
    expect(results.every(result => ['aggregated', 'done', 'busy'].includes(result))).toBe(true);
  }
  while (!(await aggregateAll(db.pool, clock)));
  await expectRollups(some);
});

describe('the order of numbers', () => {
  test('a committed row follows no uncommitted row: one session writes, one statement at a time', async () => {
    // Writes like the leader: statements sent ahead on one connection, each a transaction. A reader sees ever more
    // rows, without gaps.
    const writer = new pg.Client({ connectionString: db.url, pipeline: true });
    await writer.connect();
    try {
      const insert = (n: number) =>
        writer.query(
          `INSERT INTO run_usage (id, tenant_id, project_id, workflow_id, action, quantity, attempts, created_at)
           SELECT gen_random_uuid(), 't', $1, $1, 'tool_call', 1, '[]', to_timestamp($2) FROM generate_series(1, 3)`,
          [project(1), n],
        );
      const writing = Promise.all(Array.from({ length: 200 }, (_, n) => insert(n)));
      let done = false;
      void writing.then(() => {
        done = true;
      });
      for (let most = 0; !done; ) {
        const { rows } = await db.pool.query<{ most: string; count: string }>(
          'SELECT coalesce(max(seq), 0) AS most, count(*) AS count FROM run_usage',
        );
        expect(rows[0]?.count).toBe(rows[0]?.most);
        expect(Number(rows[0]?.most)).toBeGreaterThanOrEqual(most);
        most = Number(rows[0]?.most);
      }
      await writing;
    } finally {
      await writer.end();
    }
  });

  test('a failed statement leaves unused numbers, which block no reader', async () => {
    await insertUsage(db.pool, some.slice(0, 5));
    await db.pool.query(`SELECT nextval('run_usage_seq_seq') FROM generate_series(1, 20)`);
    await insertUsage(db.pool, some.slice(5));
    await aggregateAll(db.pool, clock, 5);
    await expectRollups(some);
    expect(await readProgress(db.pool)).toMatchObject({ pendingSince: null });
  });
});

describe('trigger types', () => {
  const started = (subject: string, at = Date.UTC(2026, 0, 5)): TestUsage => ({
    tenantId: 't',
    projectId: project(1),
    workflowId: workflow(1),
    action: 'run_started',
    subject,
    at,
  });
  const readTriggers = async () => {
    const { rows } = await db.pool.query<{ name: string; runs: number }>(
      `SELECT trigger_type AS name, runs_started::int AS runs FROM analytics_triggers
        WHERE workflow_id = $1 AND grain = 3 AND bucket = '2026-01-01Z' ORDER BY 1`,
      [wholeProject('workflow')],
    );
    return new Map(rows.map(({ name, runs }) => [name, runs]));
  };

  test('beyond a hundred in a month are counted together, for any batches', async () => {
    const words = Array.from({ length: 130 }, (_, n) => `batch-${(n * 7) % 130}`);
    const rows = [...words.map(word => started(word)), started('schedule'), started(words[129] ?? '')];
    await insertUsage(db.pool, rows);
    await insertUsage(db.pool, [started(words[0] ?? ''), started(words[129] ?? '', Date.UTC(2026, 1, 5))]);
    await aggregateAll(db.pool, clock, 9);
    const first = await readTriggers();
    expect([...first.keys()].filter(name => name.startsWith('batch-')).sort()).toEqual(words.slice(0, 100).sort());
    expect(first.get('other')).toBe(31);
    expect(first.get('schedule')).toBe(1);
    expect(first.get(words[0] ?? '')).toBe(2);
    const sums = await readAllRollups(db.pool);
    await db.pool.query('TRUNCATE analytics_totals, analytics_triggers, analytics_steps, analytics_durations');
    await db.pool.query('UPDATE analytics_progress SET seq = 0');
    await aggregateAll(db.pool, clock, 1_000);
    expect(await readAllRollups(db.pool)).toEqual(sums);
  });
});
