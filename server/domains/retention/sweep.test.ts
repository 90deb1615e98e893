import { afterEach, beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../../platform/clock.ts';
import { readAllRollups } from '../../testing/analytics.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import {
  contents,
  DAY,
  idAt,
  makeMonths,
  NOW,
  type PastRun,
  partitionNames,
  silent,
  writeRuns,
} from '../../testing/retention.ts';
import { aggregateAll } from '../analytics/aggregate.ts';
import { rebuild } from '../analytics/rebuild.ts';
import { countCharges } from '../billing/ledger/count-store.ts';
import { planRetention } from './plan.ts';
import { cutoffsAt } from './policy.ts';
import { sweep } from './sweep.ts';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
  await makeMonths(db.pool);
});
afterEach(() => db.close());

const POLICY = { runDays: 30, usageMonths: 0, auditDays: 0 };
const cutoffs = cutoffsAt(POLICY, NOW);
const runSweep = (more: Partial<Parameters<typeof sweep>[0]> = {}) =>
  sweep({ url: db.url, logger: silent, cutoffs, now: NOW, pause: async () => undefined, ...more });

const AUGUST = Date.UTC(2026, 7, 15);
const SEPTEMBER = Date.UTC(2026, 8, 15);
const OCTOBER = Date.UTC(2026, 9, 15);
const NOVEMBER = Date.UTC(2026, 10, 15);
const FOREIGN = 'f47ac10b-58cc-4372-a567-0e02b2c3d479';
const OTHER = 'e0a1c10b-58cc-4372-a567-0e02b2c3d479';

/** Returns expired and kept runs for every place in which a run can be stored. */
function history(): { past: PastRun[]; kept: PastRun[] } {
  const past = [
    { id: idAt(AUGUST), endedAt: AUGUST + DAY },
    { id: idAt(AUGUST), endedAt: NOW - 31 * DAY },
    { id: idAt(SEPTEMBER), endedAt: SEPTEMBER },
    { id: FOREIGN, endedAt: NOW - 31 * DAY },
  ];
  const kept = [
    { id: idAt(SEPTEMBER), endedAt: null, events: 40 },
    { id: idAt(SEPTEMBER), endedAt: NOW - 29 * DAY },
    // The month ended less than 30 days ago, so its runs stay together.
    { id: idAt(OCTOBER), endedAt: OCTOBER },
    { id: idAt(NOVEMBER), endedAt: NOVEMBER },
    { id: OTHER, endedAt: null },
  ];
  return { past, kept };
}

const ids = (runs: readonly PastRun[]) => runs.map(({ id }) => id);
const NOTHING = [[], [], [], []];

test('expired data is purged, by partition if a month has expired; live and recent runs stay unchanged', async () => {
  const { past, kept } = history();
  await writeRuns(db.pool, [...past, ...kept]);
  const before = await contents(db.pool, ids(kept));
  const rest = await contents(db.pool, ids(kept.slice(2)));
  const result = await runSweep();
  expect(result).toEqual({
    busy: false,
    runs: 4,
    rejections: 0,
    snapshots: 0,
    strayUsage: 0,
    auditEntries: 0,
    notifications: 0,
    dropped: ['run_events_2026_08', 'run_payloads_2026_08'],
    rewritten: ['run_events_2026_09', 'run_payloads_2026_09'],
    postponed: [],
  });
  expect(await contents(db.pool, ids(past))).toEqual(NOTHING);
  expect(await contents(db.pool, ids(kept))).toEqual(before);
  expect(await partitionNames(db.pool)).not.toContain('run_events_2026_08');
  // A second pass finds nothing; and once the long run has ended and expired, its month is dropped too.
  expect(await runSweep()).toMatchObject({ runs: 0, dropped: [], rewritten: [] });
  await db.pool.query('UPDATE runs SET ended_at = to_timestamp($2::float8 / 1000) WHERE id = ANY($1)', [
    ids(kept.slice(0, 2)),
    NOW - 40 * DAY,
  ]);
  expect(await runSweep()).toMatchObject({ runs: 2, dropped: ['run_events_2026_09', 'run_payloads_2026_09'] });
  expect(await contents(db.pool, ids(kept.slice(2)))).toEqual(rest);
});

test('a dry run lists exactly what a pass then purges, and changes nothing', async () => {
  const { past, kept } = history();
  await writeRuns(db.pool, [...past, ...kept]);
  await db.pool.query(
    `INSERT INTO run_rejections SELECT id, 'acme', id, id, 'c', 'm', to_timestamp(0) FROM unnest($1::uuid[]) id`,
    [[idAt(AUGUST), 'a47ac10b-58cc-4372-a567-0e02b2c3d479']],
  );
  const before = await contents(db.pool, [...ids(past), ...ids(kept)]);
  const plan = await planRetention(db.url, cutoffs, NOW);
  expect(await contents(db.pool, [...ids(past), ...ids(kept)])).toEqual(before);
  const result = await runSweep();
  expect(plan).toMatchObject({ runs: result.runs, rejections: 2, strayUsage: 0 });
  expect(result.rejections).toBe(2);
  const named = (action: string) => plan.partitions.filter(one => one.action === action).map(({ name }) => name);
  expect(named('drop')).toEqual(result.dropped);
  expect(named('rewrite')).toEqual(result.rewritten);
  for (const { bytes } of plan.partitions) expect(bytes).toBeGreaterThan(0);
  expect(plan.partitions.find(({ name }) => name === 'run_events_2026_09')?.keepsRuns).toBe(2);
  expect(await planRetention(db.url, cutoffs, NOW)).toMatchObject({
    partitions: [],
    runs: 0,
    rejections: 0,
    bytes: 0,
  });
});

test('a pass that is killed after any step leaves nothing incomplete, and the next one finishes it', async () => {
  const { past, kept } = history();
  const died = new Error('killed');
  let steps = 0;
  for (let killAt = 1; ; killAt++) {
    await using other = await createTestDatabase();
    await makeMonths(other.pool);
    await writeRuns(other.pool, [...past, ...kept]);
    const before = await contents(other.pool, ids(kept));
    steps = 0;
    const pause = async () => {
      steps += 1;
      if (steps === killAt) throw died;
    };
    const pass = { url: other.url, logger: silent, cutoffs, now: NOW, pause };
    const outcome = await sweep(pass).catch((error: unknown) => error);
    expect(await contents(other.pool, ids(kept))).toEqual(before);
    // A run that is still listed has its complete log, never an empty one.
    const { rows } = await other.pool.query(
      'SELECT id FROM runs r WHERE last_seq <> (SELECT count(*) FROM run_events e WHERE e.run_id = r.id)',
    );
    expect(rows).toEqual([]);
    if (outcome !== died) break;
    await sweep({ ...pass, pause: async () => undefined });
    expect(await contents(other.pool, ids(past))).toEqual(NOTHING);
    expect(await contents(other.pool, ids(kept))).toEqual(before);
    const names = await partitionNames(other.pool);
    expect(names.filter(name => name.endsWith('_2026_08'))).toEqual(['run_usage_2026_08']);
  }
  expect(steps).toBe(7);
});

test('a partition that is being read is postponed immediately, and its live runs continue', async () => {
  const { past, kept } = history();
  await writeRuns(db.pool, [...past, ...kept]);
  const reader = await db.pool.connect();
  await reader.query('BEGIN');
  await reader.query('SELECT FROM run_events LIMIT 1');
  const result = await runSweep();
  expect(result.postponed).toEqual([
    { name: 'run_events_2026_08', reason: 'locked' },
    { name: 'run_events_2026_09', reason: 'locked' },
  ]);
  await db.pool.query(`INSERT INTO run_events VALUES ($1, 41, 'step_log', 'a', 1, '{}', to_timestamp(0))`, [
    kept[0]?.id,
  ]);
  await reader.query('COMMIT');
  reader.release();
  expect(await runSweep()).toMatchObject({ dropped: ['run_events_2026_08'], rewritten: ['run_events_2026_09'] });
  const { rows } = await db.pool.query('SELECT count(*)::int AS n FROM run_events WHERE run_id = $1', [kept[0]?.id]);
  expect(rows).toEqual([{ n: 41 }]);
});

test('a month with too many live rows is not locked for long: it is postponed', async () => {
  await writeRuns(db.pool, [
    { id: idAt(SEPTEMBER), endedAt: null, events: 50_001 },
    { id: idAt(SEPTEMBER), endedAt: SEPTEMBER },
  ]);
  expect(await runSweep()).toMatchObject({
    runs: 1,
    rewritten: ['run_payloads_2026_09'],
    postponed: [{ name: 'run_events_2026_09', reason: 'too_many_live' }],
  });
});

test('one pass at a time', async () => {
  const { past, kept } = history();
  await writeRuns(db.pool, [...past, ...kept]);
  const inner: unknown[] = [];
  await runSweep({ pause: async () => void inner.push(await runSweep()) });
  expect(inner.length).toBeGreaterThan(0);
  for (const result of inner) expect(result).toMatchObject({ busy: true, runs: 0 });
});

test('usage is purged by whole months, and rows outside of them one by one', async () => {
  const at = ['2026-06-01', '2026-08-31', '2026-09-01', '2026-11-01'];
  await db.pool.query(
    `INSERT INTO run_usage (id, tenant_id, project_id, workflow_id, action, quantity, microcredits, attempts, created_at)
     SELECT gen_random_uuid(), 'acme', gen_random_uuid(), gen_random_uuid(), 'workflow_step', 1, 5, '[]', at
     FROM unnest($1::timestamptz[]) at`,
    [at.map(day => `${day}T00:00:00Z`)],
  );
  const usage = { cutoffs: cutoffsAt({ runDays: 0, usageMonths: 2, auditDays: 0 }, NOW) };
  // Usage is not purged before analytics has aggregated it and it was charged.
  const early = await runSweep(usage);
  expect(early).toMatchObject({ strayUsage: 0, postponed: [{ name: 'run_usage_2026_08', reason: 'not_counted' }] });
  await aggregateAll(db.pool, new ManualClock(NOW));
  expect(await runSweep(usage)).toMatchObject({ strayUsage: 0, postponed: early.postponed });
  expect(await countCharges(db.pool, NOW)).toBe('counted');
  const all = await planRetention(db.url, usage.cutoffs, NOW);
  expect(all).toMatchObject({ runs: 0, strayUsage: 1, partitions: [{ name: 'run_usage_2026_08', action: 'drop' }] });
  const reader = await db.pool.connect();
  await reader.query('BEGIN; SELECT FROM run_usage_2026_08 LIMIT 1');
  const postponed = [{ name: 'run_usage_2026_08', reason: 'locked' }];
  expect(await runSweep(usage)).toMatchObject({ strayUsage: 1, dropped: [], postponed });
  await reader.query('COMMIT');
  reader.release();
  expect((await db.pool.query(`SELECT FROM usage_sums WHERE bucket < '2026-09-01'`)).rowCount).toBe(2);
  const counted = await readAllRollups(db.pool);
  expect(await runSweep(usage)).toMatchObject({ runs: 0, strayUsage: 0, dropped: ['run_usage_2026_08'] });
  const { rows } = await db.pool.query('SELECT created_at FROM run_usage ORDER BY 1');
  expect(rows.map(row => row.created_at.toISOString().slice(0, 10))).toEqual(['2026-09-01', '2026-11-01']);
  // The rollups of billing are purged like the usage. Those of analytics stay, and a rebuild recomputes only rollups
  // whose usage exists.
  const left = await db.pool.query('SELECT bucket FROM usage_sums ORDER BY 1');
  expect(left.rows.map(row => row.bucket.toISOString().slice(0, 10))).toEqual(['2026-09-01', '2026-11-01']);
  await db.pool.query('UPDATE analytics_totals SET runs_started = 7');
  expect(await rebuild(db.url, null, silent)).toEqual({ rows: 2, since: Date.UTC(2026, 8, 1) });
  const rebuilt = await readAllRollups(db.pool);
  expect(rebuilt.analytics_steps).toEqual(counted.analytics_steps);
  const wrong = rebuilt.analytics_totals?.filter(row => (row as { runs_started: number }).runs_started === 7);
  expect(wrong?.every(row => (row as { bucket: string }).bucket < '2026-09')).toBe(true);
  expect(wrong).not.toEqual([]);
});

test('data that is kept forever is not purged', async () => {
  const { past, kept } = history();
  await writeRuns(db.pool, [...past, ...kept]);
  expect(cutoffsAt({ runDays: 0, usageMonths: 0, auditDays: 0 }, NOW)).toEqual({
    runs: null,
    usage: null,
    audit: null,
  });
  expect(await runSweep({ cutoffs: { runs: null, usage: null, audit: null } })).toMatchObject({
    runs: 0,
    dropped: [],
    rewritten: [],
  });
});

test('a large history is purged in small batches', async () => {
  const { pool } = db;
  await pool.query(
    `INSERT INTO runs (id, tenant_id, project_id, workflow_id, version, status, orchestration_phase, session_id, trigger_type,
                       started_by, started_at, ended_at, steps_total, steps_done, pending_tasks, last_seq)
     SELECT overlay($1 PLACING lpad(to_hex(n), 12, '0') FROM 25)::uuid, 'acme', $2, $2, 1, 'completed', 'complete', 's', 'api',
            'ann', to_timestamp(0), to_timestamp(0), 1, 0, 0, 1 FROM generate_series(1, 10700) n`,
    [idAt(AUGUST), FOREIGN],
  );
  let batches = 0;
  const pause = async () => {
    batches += 1;
  };
  expect(await runSweep({ pause })).toMatchObject({
    runs: 10_700,
    dropped: ['run_events_2026_08', 'run_payloads_2026_08', 'run_events_2026_09', 'run_payloads_2026_09'],
  });
  expect(batches).toBe(22 + 4);
});
