import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../api/operations.ts';
import type { Principal } from '../../operation/context.ts';
import { allSteps, type Graph } from '../../orchestrator/core/index.ts';
import { ManualClock } from '../../platform/clock.ts';
import { createLogger } from '../../platform/logger.ts';
import { type Container, createContainer } from '../../process/container.ts';
import { readAllRollups } from '../../testing/analytics.ts';
import { createCall } from '../../testing/call.ts';
import { createTestTenant, testConfig } from '../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { publishGraph, reached } from '../../testing/runs.ts';
import { createTestProject } from '../../testing/workflows.ts';
import { aggregateAll } from './aggregate.ts';
import { check } from './check.ts';
import { rebuild } from './rebuild.ts';

/**
 * Generates runs of every kind by the real engine, over days on which clocks change. Each question is answered once by
 * the service and once by counting the runs' rows and events here.
 */
const clock = new ManualClock(Date.parse('2026-03-27T22:50:00Z'));
let db: TestDatabase;
let container: Container;
let call: ReturnType<typeof createCall<typeof operations>>;
const people: Principal[] = [];

const lua = (id: string, script: string, more = {}) => ({ id, type: 'lua_script', script, ...more });
const graphs: Record<string, Graph> = {
  plain: { steps: [lua('a', 'return 1'), lua('b', 'return 2', { depends_on: ['a'] })] },
  failing: {
    steps: [lua('a', 'return 1'), lua('b', 'error("no")', { depends_on: ['a'], retry_count: 2, retry_delay_s: 0 })],
  },
  branching: {
    steps: [
      { id: 'c', type: 'condition', expression: 'input.n > 1', then: ['yes'], else: ['no'] },
      lua('yes', 'return 1', { depends_on: ['c'] }),
      lua('no', 'return 0', { depends_on: ['c'] }),
    ],
  },
  // Its last item fails, and with it the loop, in some of its runs.
  looping: {
    steps: [
      {
        id: 'each',
        type: 'for_each',
        items: '[1, 2, input.n]',
        steps: [lua('in_loop', 'if item == 3 then error("no") end return item')],
      },
    ],
  },
  asking: { steps: [{ id: 'ask', type: 'human_task' }, lua('after', 'return 1', { depends_on: ['ask'] })] },
} as unknown as Record<string, Graph>;
const workflows = new Map<Principal, Record<string, string>>();

beforeAll(async () => {
  db = await createTestDatabase();
  const config = testConfig({
    BATON_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    BATON_RATE_LIMIT_PER_MINUTE: '0',
  });
  // No alarm rings by itself: the test aggregates explicitly.
  container = await createContainer({
    config,
    logger: createLogger('silent'),
    database: db,
    clock,
    alarm: () => () => undefined,
  });
  await container.ready;
  const { services } = container;
  call = createCall(services, operations);
  const acme = await createTestTenant(services, { slug: 'acme' });
  const rival = await createTestTenant(services, { slug: 'rival' });
  people.push(acme.contributor, (await createTestProject(services, acme, 'second')).contributor, rival.owner);
  for (const person of people) {
    const made: Record<string, string> = {};
    for (const [name, graph] of Object.entries(graphs)) made[name] = await publishGraph(services, person, graph);
    workflows.set(person, made);
  }
  await generateRuns();
  expect(await aggregateAll(db.pool, clock, 7)).toBe(true);
});
afterAll(async () => {
  await container.close();
  await db.close();
});

/** Generates days of runs: some end at once, some wait for hours for a person or a stop, some still wait at the end. */
async function generateRuns(): Promise<void> {
  const { services } = container;
  const waiting: { person: Principal; id: string; run: string }[] = [];
  for (let round = 0; round < 14; round++) {
    for (const [index, person] of people.entries()) {
      for (const [name, id] of Object.entries(workflows.get(person) ?? {})) {
        if ((round + index) % 3 === 2 && name !== 'asking') continue;
        const params = { n: round % 4, trigger_type: ['api', 'schedule', 'nightly'][(round + index) % 3] };
        const { run_id: run } = (await call(person, 'workflows_execute_command', { id, command: 'start', params })) as {
          run_id: string;
        };
        const asks = name === 'asking';
        await reached(services, person, { id, runID: run }, asks ? 'blocked' : 'complete');
        if (asks) waiting.push({ person, id, run });
      }
    }
    clock.advance(((round * 7) % 11) * 1_530_000 + 61_000);
    for (const { person, id, run } of waiting.splice(0, round % 3)) {
      if (round % 2 === 0)
        await call(person, 'tasks_complete', { id, run_id: run, task_id: 'ask', approved: true }).catch(async () =>
          call(person, 'tasks_complete', { id, runID: run, task_id: 'ask', approved: true }),
        );
      else await call(person, 'workflows_execute_command', { id, command: 'stop', params: { run_id: run } });
      await reached(services, person, { id, runID: run });
    }
  }
  const [paused] = waiting;
  if (paused) {
    const { person, id, run } = paused;
    await call(person, 'workflows_execute_command', { id, command: 'pause', params: { run_id: run } });
  }
}

type Run = {
  id: string;
  workflow_id: string;
  status: string;
  orchestration_phase: string;
  trigger_type: string;
  started_at: Date;
  ended_at: Date | null;
  credits: number;
};
type Attempt = { workflow_id: string; type: string; at: Date; ended: string; credits: number };

async function runsOf(person: Principal, workflow?: string): Promise<{ runs: Run[]; attempts: Attempt[] }> {
  const { rows: runs } = await db.pool.query<Run>(
    `SELECT *, credits_microcredits::int AS credits FROM runs WHERE tenant_id = $1 AND project_id = $2 AND ($3::uuid IS NULL OR workflow_id = $3)`,
    [person.tenantId, person.projectId, workflow ?? null],
  );
  const { rows } = await db.pool.query(
    `SELECT r.workflow_id, e.* FROM run_events e JOIN runs r ON r.id = e.run_id WHERE r.id = ANY($1)
       AND event_type IN ('step_completed', 'step_failed', 'step_retrying')`,
    [runs.map(run => run.id)],
  );
  const types = new Map(Object.values(graphs).flatMap(graph => allSteps(graph).map(step => [step.id, step.type])));
  const names = { step_completed: 'completed', step_failed: 'failed', step_retrying: 'retried' } as const;
  const attempts = rows
    .filter(({ attempt, data }) => attempt !== null && !data.skipped && data.caused_by_step_id === undefined)
    .map(row => ({
      workflow_id: row.workflow_id,
      type: types.get(row.step_id.split('.').at(-1)) ?? '',
      at: row.created_at,
      ended: names[row.event_type as keyof typeof names],
      credits: row.data.credits ?? 0,
    }));
  return { runs, attempts };
}

type AnsweredRange = { from: string; to: string; as_of: string };
const zones = ['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/St_Johns', 'Australia/Lord_Howe'];
const ranges = [
  {},
  { window: 'week' },
  { window: 'all' },
  { from: '2026-03-28T23:15:00.000Z', to: '2026-03-29T22:45:00.000Z' },
  { from: '2026-03-29T00:45:00.000Z' },
];
const questions = people.length === 0 ? [0, 1, 2] : [];
const cases = questions.flatMap(person =>
  ranges.flatMap((range, n) => [{ person, input: { ...range, time_zone: zones[(n + person) % zones.length] } }]),
);

const within = ({ from, to }: AnsweredRange) => {
  const [start, end] = [Date.parse(from), Date.parse(to)];
  return (at: Date | null) => at !== null && at.getTime() >= start && at.getTime() < end;
};
const count = <T>(items: readonly T[], which: (item: T) => boolean) => items.filter(which).length;
const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);

describe.each(cases)('person $person asks for $input', ({ person, input }) => {
  const ask = async <T>(name: (typeof operations)[number]['name'], more = {}) => {
    const who = people[person];
    if (!who) throw new Error('nobody');
    return (await call(who, name, { ...input, ...more })) as T & AnsweredRange;
  };
  const about = async (answer: AnsweredRange, workflow?: string) => {
    const who = people[person];
    if (!who) throw new Error('nobody');
    const inside = within(answer);
    const { runs, attempts } = await runsOf(who, workflow);
    expect(answer.as_of).toBe(new Date(clock.now()).toISOString());
    return {
      started: runs.filter(run => inside(run.started_at)),
      ended: runs.filter(run => inside(run.ended_at)),
      attempts: attempts.filter(attempt => inside(attempt.at)),
    };
  };

  test('success rate, runs and steps', async () => {
    const rate = await ask<Record<string, number>>('analytics_success_rate');
    const { started, ended, attempts } = await about(rate);
    const countEnded = (status: string) => count(ended, run => run.status === status);
    const [completed, failed, stopped] = [countEnded('completed'), countEnded('failed'), countEnded('stopped')];
    expect(rate).toMatchObject({
      total: ended.length,
      completed,
      failed,
      stopped,
      success_rate: ended.length === stopped ? null : completed / (completed + failed),
    });
    const runs = await ask<{ by_trigger: unknown[]; by_workflow: unknown[] }>('analytics_runs_count');
    expect(runs).toMatchObject({
      started: started.length,
      completed,
      failed,
      stopped,
    });
    const triggers = Map.groupBy(started, run => run.trigger_type);
    expect(runs.by_trigger).toHaveLength(triggers.size);
    expect(runs.by_trigger).toEqual(
      expect.arrayContaining([...triggers].map(([trigger_type, { length }]) => ({ trigger_type, started: length }))),
    );
    const touched = new Set([...started, ...ended.filter(run => run.status === 'failed')].map(run => run.workflow_id));
    expect(runs.by_workflow).toHaveLength(touched.size);
    for (const id of touched)
      expect(runs.by_workflow).toContainEqual({
        workflow_id: id,
        workflow_name: 'Under test',
        started: count(started, run => run.workflow_id === id),
        failed: count(ended, run => run.workflow_id === id && run.status === 'failed'),
      });
    const ending = (ended: string) => count(attempts, attempt => attempt.ended === ended);
    expect(await ask('analytics_steps_executed')).toMatchObject({
      total: attempts.length,
      completed: ending('completed'),
      failed: ending('failed'),
      retried: ending('retried'),
    });
    const types = Map.groupBy(attempts, attempt => attempt.type);
    const { steps } = await ask<{ steps: unknown[] }>('analytics_steps_summary');
    expect(steps).toHaveLength(types.size);
    for (const [step_type, own] of types)
      expect(steps).toContainEqual({
        step_type,
        completed: count(own, attempt => attempt.ended === 'completed'),
        failed: count(own, attempt => attempt.ended === 'failed'),
        retried: count(own, attempt => attempt.ended === 'retried'),
        microcredits: sum(own.map(attempt => attempt.credits)),
      });
  });

  test('credits', async () => {
    const answer = await ask<{ microcredits: number; by_action: unknown[]; by_workflow: unknown[] }>(
      'analytics_credits_consumed',
    );
    const { attempts } = await about(answer);
    const microcredits = sum(attempts.map(attempt => attempt.credits));
    expect(answer.microcredits).toBe(microcredits);
    expect(answer.by_action).toContainEqual({ action: 'workflow_step', quantity: attempts.length, microcredits });
    const workflows = Map.groupBy(attempts, attempt => attempt.workflow_id);
    expect(answer.by_workflow).toHaveLength(workflows.size);
    for (const [workflow_id, own] of workflows)
      expect(answer.by_workflow).toContainEqual({
        workflow_id,
        workflow_name: 'Under test',
        microcredits: sum(own.map(attempt => attempt.credits)),
      });
  });

  test('durations', async () => {
    type Durations = Record<'runs' | 'avg_ms' | 'min_ms' | 'max_ms' | 'p50_ms' | 'p95_ms' | 'p99_ms', number | null>;
    const answer = await ask<Durations & { by_workflow: (Durations & { workflow_id: string })[] }>(
      'analytics_execution_duration',
    );
    const { ended } = await about(answer);
    const judged = ended.filter(run => run.status !== 'stopped');
    const compare = (told: Durations, runs: readonly Run[]) => {
      const sorted = runs.map(run => Number(run.ended_at) - run.started_at.getTime()).sort((a, b) => a - b);
      expect(told.runs).toBe(runs.length);
      if (runs.length === 0)
        return expect(told).toMatchObject({ avg_ms: null, min_ms: null, max_ms: null, p50_ms: null });
      expect(told).toMatchObject({
        avg_ms: Math.round(sum(sorted) / sorted.length),
        min_ms: sorted[0],
        max_ms: sorted.at(-1),
      });
      for (const [part, value] of [
        [0.5, told.p50_ms],
        [0.95, told.p95_ms],
        [0.99, told.p99_ms],
      ] as const) {
        const exact = sorted[Math.ceil(part * sorted.length) - 1] ?? Number.NaN;
        expect(Math.abs((value ?? Number.NaN) - exact)).toBeLessThanOrEqual(exact * 0.004);
      }
    };
    compare(answer, judged);
    const workflows = Map.groupBy(judged, run => run.workflow_id);
    expect(answer.by_workflow.map(({ workflow_id }) => workflow_id).sort()).toEqual([...workflows.keys()].sort());
    for (const durations of answer.by_workflow) compare(durations, workflows.get(durations.workflow_id) ?? []);
  });

  test.each(['hour', 'day', 'week', 'month'] as const)('time series by the %s', async granularity => {
    type Series = { points: ({ at: string } & Record<string, number>)[] };
    const runs = await ask<Series>('analytics_runs_timeseries', { granularity });
    const usage = await ask<Series>('analytics_usage_timeseries', { granularity });
    const { started, ended, attempts } = await about(runs);
    const format = new Intl.DateTimeFormat('sv-SE', {
      timeZone: input.time_zone ?? 'UTC',
      dateStyle: 'short',
      timeStyle: 'short',
    });
    const nameAt = (at: Date) => {
      const text = format.format(at);
      const day = new Date(`${text.slice(0, 10)}T00:00:00Z`);
      const monday = new Date(day.getTime() - ((day.getUTCDay() + 6) % 7) * 86_400_000);
      // An hour that is shown twice is two hours.
      const offset = Date.parse(`${text.replace(' ', 'T')}Z`) - Math.floor(at.getTime() / 60_000) * 60_000;
      return {
        hour: `${text.slice(0, 13)} ${offset}`,
        day: text.slice(0, 10),
        week: monday.toISOString().slice(0, 10),
        month: text.slice(0, 7),
      }[granularity];
    };
    // Each time is looked up once for every point.
    const known = new Map<number, string>();
    const nameOf = (at: Date) => {
      const name = known.get(at.getTime()) ?? nameAt(at);
      known.set(at.getTime(), name);
      return name;
    };
    expect(usage.points.map(({ at }) => at)).toEqual(runs.points.map(({ at }) => at));
    const names = runs.points.map(({ at }) => nameOf(new Date(at)));
    for (const [index, point] of runs.points.entries()) {
      const isInBucket = (at: Date | null) => at !== null && nameOf(at) === names[index];
      expect(point, point.at).toMatchObject({
        started: count(started, run => isInBucket(run.started_at)),
        completed: count(ended, run => run.status === 'completed' && isInBucket(run.ended_at)),
        failed: count(ended, run => run.status === 'failed' && isInBucket(run.ended_at)),
        stopped: count(ended, run => run.status === 'stopped' && isInBucket(run.ended_at)),
      });
      const used = attempts.filter(attempt => isInBucket(attempt.at));
      expect(usage.points[index]).toMatchObject({
        steps: used.length,
        microcredits: sum(used.map(({ credits }) => credits)),
      });
    }
    // The points have no gaps, and contain every run.
    expect(sum(runs.points.map(point => point.started ?? 0))).toBe(started.length);
    expect(new Set(names).size).toBe(names.length);
  });

  test('runs of one workflow', async () => {
    for (const id of Object.values(workflows.get(people[person] ?? ({} as Principal)) ?? {})) {
      const answer = await ask<{ by_workflow: { workflow_id: string }[] }>('analytics_runs_count', { workflow_id: id });
      const { started, ended } = await about(answer, id);
      expect(answer).toMatchObject({ started: started.length, stopped: count(ended, run => run.status === 'stopped') });
      const { by_workflow } = answer;
      expect(by_workflow.every(({ workflow_id }) => workflow_id === id)).toBe(true);
    }
  });
});

test('every question accepts any instant as a bound, and returns the quarters of an hour that it counts', async () => {
  const [who] = people;
  if (!who) throw new Error('nobody');
  const asking = operations.filter(({ name }) => name.startsWith('analytics_') && name !== 'analytics_live_runs');
  expect(asking).toHaveLength(8);
  for (const { name } of asking) {
    const range = { from: '2026-03-28T23:15:00.000Z', to: '2026-03-29T22:45:00.000Z' };
    const whole = await call(who, name, range);
    expect(whole, name).toMatchObject(range);
    const within = { from: '2026-03-29T00:29:59.999+01:00', to: '2026-03-29T22:30:00.001Z' };
    expect(await call(who, name, within), name).toEqual(whole);
  }
});

test('live runs', async () => {
  for (const person of people) {
    const { runs } = await runsOf(person);
    const liveRuns = runs.filter(run => run.ended_at === null);
    expect(liveRuns.length).toBeGreaterThan(0);
    expect(await call(person, 'analytics_live_runs')).toEqual({
      as_of: new Date(clock.now()).toISOString(),
      total: liveRuns.length,
      running: count(liveRuns, run => run.status === 'running'),
      blocked: count(liveRuns, run => run.status === 'running' && run.orchestration_phase === 'blocked'),
      paused: count(liveRuns, run => run.status === 'paused'),
    });
  }
});

test('every kind of run occurred', async () => {
  const { rows } = await db.pool.query(`SELECT status, count(*)::int FROM runs GROUP BY 1 ORDER BY 1`);
  expect(rows.map(row => row.status)).toEqual(['completed', 'failed', 'paused', 'running', 'stopped']);
  const { rows: charged } = await db.pool.query(`SELECT sum(credits_microcredits)::int AS credits FROM runs`);
  expect(charged[0].credits).toBeGreaterThan(0);
});

test('the check passes, finds a wrong rollup, and a rebuild repairs it', async () => {
  expect(await check(db.url, 50)).toEqual({ since: null, stepsSince: null, differences: [] });
  const sums = await readAllRollups(db.pool);
  await rebuild(db.url, null, createLogger('silent'));
  expect(await readAllRollups(db.pool)).toEqual(sums);
  const spoilt: [table: string, change: string, which: string][] = [
    ['analytics_totals', 'runs_failed = runs_failed + 1', 'grain = 0'],
    ['analytics_triggers', 'runs_started = runs_started + 1', 'grain = 3'],
    ['analytics_durations', 'max_ms = max_ms + 1', 'grain = 0'],
    ['usage_sums', 'microcredits = microcredits - 1', 'true'],
  ];
  for (const [table, change, which] of spoilt) {
    await db.pool.query(`UPDATE ${table} SET ${change} WHERE ${which} AND project_id = $1`, [people[0]?.projectId]);
    const found = await check(db.url, 50);
    expect(found?.differences.every(difference => difference.table === table)).toBe(true);
    expect(found?.differences[0]).toMatchObject({ projectId: people[0]?.projectId });
    // Another project's rebuild leaves it as it is.
    await rebuild(db.url, people[1]?.projectId ?? null, createLogger('silent'));
    expect(await readAllRollups(db.pool)).not.toEqual(sums);
    await rebuild(db.url, people[0]?.projectId ?? null, createLogger('silent'));
    expect(await readAllRollups(db.pool)).toEqual(sums);
  }
  await db.pool.query(`DELETE FROM analytics_steps WHERE workflow_id = $1`, [
    Object.values(workflows.get(people[0] as Principal) ?? {})[0],
  ]);
  expect((await check(db.url, 3))?.differences).toHaveLength(3);
  await rebuild(db.url, null, createLogger('silent'));
  expect(await readAllRollups(db.pool)).toEqual(sums);
});
