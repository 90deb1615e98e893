import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { declareAnalytics } from '../../commands/analytics.ts';
import { UsageError } from '../../commands/command-line.ts';
import type { Context } from '../../operation/context.ts';
import type { Services } from '../../operation/services.ts';
import { ManualClock } from '../../platform/clock.ts';
import { createLogger } from '../../platform/logger.ts';
import { noteDatabaseError } from '../../platform/postgres/away.ts';
import { insertUsage, readAllRollups } from '../../testing/analytics.ts';
import { runCommand } from '../../testing/commands.ts';
import { createTestServices, createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { operationsByName } from '../../testing/operations.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { call, contextFor, insertRun, refusal } from '../../testing/workflows.ts';
import { aggregateAll } from './aggregate.ts';
import { backfill } from './backfill-store.ts';
import { startAnalyticsJob } from './job.ts';
import { analyticsOperations } from './operations.ts';

const byName = operationsByName(analyticsOperations);
const { analytics_runs_count: runsCount, analytics_execution_duration: executionDuration } = byName;
const silent = createLogger('silent');
const workflowId = '01900000-0000-7000-8000-00000000b001';
const NOW = Date.parse('2026-03-10T12:00:00Z');

let db: TestDatabase;
let clock: ManualClock;
let services: Services;
let tenant: TestTenant;
let ctx: Context;
beforeEach(async () => {
  db = await createTestDatabase();
  clock = new ManualClock(NOW);
  services = createTestServices(db, { clock });
  tenant = await createTestTenant(services, { slug: 'acme' });
  ctx = contextFor(services, tenant.contributor);
});
afterEach(() => db.close());

const startedRun = (at: number) => ({
  tenantId: tenant.tenantId,
  projectId: tenant.projectId,
  workflowId,
  action: 'run_started' as const,
  subject: 'api',
  at,
});

/** Inserts runs as older releases wrote them: rows without usage. */
async function runsOfBefore(): Promise<string[]> {
  const run = (status: 'completed' | 'running', day: number) =>
    insertRun(services, { ...tenant, workflowId, status, startedAt: new Date(Date.UTC(2026, 1, day)) });
  const ids = [
    await run('completed', 1),
    await run('completed', 1),
    await run('completed', 20),
    await run('running', 20),
  ];
  await db.pool.query('UPDATE analytics_progress SET ready_seq = NULL');
  return ids;
}

describe('runs of older releases', () => {
  test('are counted once, in addition to those that the engine has counted', async () => {
    const [first, , , running] = await runsOfBefore();
    // The running run has ended since, and another has started: usage has both.
    await insertUsage(db.pool, [{ ...startedRun(NOW), action: 'run_ended', outcome: 'completed', durations: [5] }]);
    await db.pool.query(`UPDATE run_usage SET attempts = json_build_array(json_build_array($1::text, 5))`, [running]);
    await db.pool.query(`UPDATE runs SET status = 'completed', ended_at = $2 WHERE id = $1`, [running, new Date(NOW)]);
    await db.pool.query(`UPDATE runs SET ended_at = started_at - interval '1 s' WHERE id = $1`, [first]);
    expect(await refusal(call(runsCount, ctx, { window: 'all' }))).toMatchObject({
      status: 503,
      code: 'analytics_unavailable',
      headers: { 'Retry-After': '5' },
    });
    expect((await Promise.allSettled([backfill(db.url, silent), backfill(db.url, silent)])).length).toBe(2);
    expect(await backfill(db.url, silent)).toBe(false);
    // Answers are refused until that usage is aggregated.
    expect(await refusal(call(runsCount, ctx, { window: 'all' }))).toMatchObject({ code: 'analytics_unavailable' });
    await aggregateAll(db.pool, clock);
    expect(await call(runsCount, ctx, { window: 'all' })).toMatchObject({
      from: '2026-01-31T00:00:00.000Z',
      started: 4,
      completed: 4,
      by_trigger: [{ trigger_type: 'api', started: 4 }],
    });
    const durations = await call(executionDuration, ctx, { window: 'all' });
    expect(durations).toMatchObject({ runs: 4, min_ms: 0, max_ms: 5 });
  });

  test('a new database has none and answers immediately', async () => {
    const answer = await call(runsCount, ctx, {});
    expect(answer).toMatchObject({ started: 0, by_trigger: [], by_workflow: [], as_of: '2026-03-10T12:00:00.000Z' });
  });
});

describe('the job', () => {
  /** Returns alarms that the test triggers. */
  function alarms() {
    const set: { ms: number; ring: () => void }[] = [];
    const alarm = (ms: number, ring: () => void) => {
      const one = { ms, ring };
      set.push(one);
      return () => void set.splice(set.indexOf(one), 1);
    };
    const ring = async () => {
      const next = set.shift();
      next?.ring();
      await expect.poll(() => set.length).toBe(1);
      return next?.ms;
    };
    return { alarm, ring, set };
  }

  test('counts earlier runs, then keeps up every two seconds while its process leads', async () => {
    await runsOfBefore();
    const { alarm, ring, set } = alarms();
    let leading = false;
    const job = startAnalyticsJob({ database: db, clock, alarm, logger: silent, leading: () => leading });
    expect(await ring()).toBe(2_000);
    expect(await refusal(call(runsCount, ctx, {}))).toMatchObject({ code: 'analytics_unavailable' });
    leading = true;
    await ring();
    expect(await call(runsCount, ctx, { window: 'all' })).toMatchObject({ started: 4, completed: 3 });
    await insertUsage(db.pool, [startedRun(NOW - 60_000), startedRun(NOW)]);
    // Usage that is not aggregated yet is missing from the answer, whose `as_of` says so.
    expect(await call(runsCount, ctx, { window: 'all' })).toMatchObject({
      started: 4,
      as_of: '2026-03-10T12:00:00.000Z',
    });
    clock.advance(3_600_000);
    expect((await call(runsCount, ctx, {})).as_of).toBe('2026-03-10T12:00:00.000Z');
    await ring();
    expect(await call(runsCount, ctx, { window: 'all' })).toMatchObject({
      started: 6,
      as_of: '2026-03-10T13:00:00.000Z',
    });
    await job.close();
    expect(set).toEqual([]);
  });

  test('continues after a failure', async () => {
    const { alarm, ring, set } = alarms();
    const job = startAnalyticsJob({ database: db, clock, alarm, logger: silent, leading: () => true });
    await db.pool.query('ALTER TABLE analytics_totals RENAME TO gone');
    await insertUsage(db.pool, [startedRun(NOW)]);
    await ring();
    expect(set[0]?.ms).toBe(10_000);
    await db.pool.query('ALTER TABLE gone RENAME TO analytics_totals');
    await ring();
    expect(set[0]?.ms).toBe(2_000);
    expect(await call(runsCount, ctx, {})).toMatchObject({ started: 1 });
    await job.close();
  });
});

test.each(analyticsOperations.map(({ name }) => name))('%s is 503 while the database is away', async name => {
  const refusedConnection = noteDatabaseError(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }));
  const refuseConnection = () => Promise.reject(refusedConnection);
  const pool = Object.create(db.pool, { connect: { value: refuseConnection } });
  const lost = contextFor({ ...services, pool }, tenant.contributor);
  const run = byName[name].run as (context: Context, input: object) => Promise<unknown>;
  const error = await refusal(run(lost, byName[name].input.parse({})));
  expect(error).toMatchObject({ status: 503, code: 'analytics_unavailable', headers: { 'Retry-After': '2' } });
});

describe('npm run baton -- analytics', () => {
  test('rebuilds and checks', async () => {
    await insertRun(services, { ...tenant, workflowId, status: 'running' });
    await insertUsage(db.pool, [startedRun(NOW)]);
    await aggregateAll(db.pool, clock);
    const sums = await readAllRollups(db.pool);
    const run = (...args: string[]) => runCommand(declareAnalytics, { url: db.url }, args);
    expect(await run('check')).toMatchObject({
      code: 0,
      text: expect.stringContaining('agree with the runs and their events'),
    });
    await db.pool.query('UPDATE analytics_totals SET runs_started = 2 WHERE grain = 0');
    const found = await run('check');
    expect(found).toMatchObject({ code: 1 });
    expect(found.text).toContain(`quarter 2026-03-10T12:00:00.000Z  runs_started: 2, recounted 1`);
    expect(await run('rebuild', '--project', tenant.projectId)).toMatchObject({
      code: 0,
      value: { rows: 1, since: null },
    });
    expect(await readAllRollups(db.pool)).toEqual(sums);
    expect(await run('check', '--json')).toMatchObject({ code: 0 });
  });

  test('compares usage from before migration 0009 as far as possible, and reports the rest', async () => {
    const at = Date.UTC(2026, 1, 1, 12, 10);
    const ids = [await insertRun(services, { ...tenant, workflowId, startedAt: new Date(at) })];
    ids.push(await insertRun(services, { ...tenant, workflowId, startedAt: new Date(NOW) }));
    await db.pool.query(
      `INSERT INTO workflows (id, tenant_id, project_id, name, description, status, graph, run_setup, revision, graph_checksum,
                              created_by, created_at, updated_at)
       VALUES ($1, $2, $3, 'w', '', 'published', '{}', '{}', 1, '', $1, $4, $4)`,
      [workflowId, tenant.tenantId, tenant.projectId, new Date(at)],
    );
    await db.pool.query(
      `INSERT INTO workflow_versions VALUES ($1, 1, $2, '{"steps": [{"id": "a", "type": "lua_script"}]}', '{}', '', '', $1, $3)`,
      [workflowId, tenant.tenantId, new Date(at)],
    );
    // Each run retried a step and then completed it.
    for (const [run, time] of [
      [ids[0], at],
      [ids[1], NOW],
    ] as const) {
      await db.pool.query(
        `INSERT INTO run_events VALUES ($1, 1, 'step_retrying', 'a', 1, '{}', $2), ($1, 2, 'step_completed', 'a', 2, '{}', $2)`,
        [run, new Date(time)],
      );
    }
    // The first run's usage was written without types and outcomes, and a quarter of an hour before that without any row.
    await insertUsage(db.pool, [{ ...startedRun(at), action: 'workflow_step', subject: '', quantity: 2 }]);
    await db.pool.query(`INSERT INTO run_events VALUES ($1, 3, 'step_completed', 'a', 3, '{}', $2)`, [
      ids[0],
      new Date(at - 900_000),
    ]);
    const step = { ...startedRun(NOW), action: 'workflow_step' as const, subject: '', stepType: 'lua_script' };
    await insertUsage(db.pool, [
      { ...step, outcome: 'retried' },
      { ...step, outcome: 'completed' },
    ]);
    await db.pool.query('UPDATE analytics_progress SET ready_seq = NULL');
    await backfill(db.url, silent);
    await aggregateAll(db.pool, clock);
    const run = (...args: string[]) => runCommand(declareAnalytics, { url: db.url }, args);
    const checked = await run('check');
    expect(checked).toMatchObject({ code: 0, value: { stepsSince: Date.UTC(2026, 1, 1, 12, 15), differences: [] } });
    expect(checked.text).toContain('Steps before 2026-02-01T12:15:00.000Z were stored without types and outcomes');
    await run('rebuild');
    expect(await run('check')).toMatchObject({ code: 0 });
    // Usage may be purged before its runs are.
    await db.pool.query(`DELETE FROM run_usage WHERE created_at < '2026-03-01'`);
    await db.pool.query(`UPDATE analytics_progress SET usage_from = '2026-03-01'`);
    expect(await run('check')).toMatchObject({ code: 0 });
    // The rest is still compared: runs of that time, and steps since then.
    await db.pool.query(`UPDATE analytics_totals SET runs_started = 7 WHERE grain = 0 AND bucket < '2026-03-01'`);
    expect((await run('check')).text).toContain('quarter 2026-02-01T12:00:00.000Z  runs_started: 7, recounted 1');
    await db.pool.query(`UPDATE analytics_totals SET runs_started = 1 WHERE grain = 0 AND bucket < '2026-03-01'`);
    await db.pool.query(`UPDATE analytics_steps SET retried = 7 WHERE grain = 0 AND bucket >= '2026-03-01'`);
    expect((await run('check')).text).toContain('retried of lua_script: 7, recounted 1');
  });

  test('refuses unknown arguments', async () => {
    for (const args of [
      ['look'],
      ['check', 'twice'],
      ['check', '--project', tenant.projectId],
      ['rebuild', '--project', 'x'],
    ])
      await expect(runCommand(declareAnalytics, { url: db.url }, args), args.join(' ')).rejects.toThrow(UsageError);
  });

  test('waits for the first start', async () => {
    await runsOfBefore();
    for (const command of ['check', 'rebuild'])
      await expect(runCommand(declareAnalytics, { url: db.url }, [command])).rejects.toThrow('start Baton');
  });
});
