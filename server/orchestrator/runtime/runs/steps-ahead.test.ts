import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { TestCredits } from '../../../testing/engine/credits.ts';
import {
  chain,
  createHarness,
  Gate,
  type Harness,
  type HarnessOptions,
  outline,
  stepType,
} from '../../../testing/engine/runtime.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import type { Graph, RunEvent } from '../../core/index.ts';
import type { RunRef } from '../../ports/orchestrator.ts';
import type { Attempt, Outcome, StepType } from '../../ports/step-type.ts';
import { Runtime } from '../runtime.ts';
import { AHEAD_LIMITS, type AheadLimits, Burst } from './steps-ahead.ts';

let db: TestDatabase;
const open: Harness[] = [];
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());
afterEach(async () => {
  for (const h of open.splice(0)) await h.orchestrator.close();
});

/** A step type that only computes. `isAhead`: whether turns may decide its steps ahead. */
function pure(decide: (attempt: Attempt) => Outcome, isAhead = true): [string, StepType] {
  const [name, type] = stepType('pure', async attempt => decide(attempt));
  return [name, { ...type, reads: () => [], ...(isAhead && { atOnce: decide }) }];
}
const from = ({ step }: Attempt): Outcome => ({ kind: 'completed', result: { from: step.id } });

type Options = HarnessOptions & { limits?: Partial<AheadLimits>; refuses?: string };

async function harness({ limits, refuses, ...options }: Options = {}): Promise<Harness> {
  const made = await createHarness(db, {
    types: [pure(from)],
    ports: {
      createRuntime: (services, session) => {
        const commit: typeof session.commit = batch =>
          refuses !== undefined && JSON.stringify(batch.map(({ rows }) => rows)).includes(refuses)
            ? Promise.reject(Object.assign(new Error('refused'), { code: '22P05' }))
            : session.commit(batch);
        // A stopwatch that stands still, unless the test is about time.
        const ahead = { ...AHEAD_LIMITS, stopwatch: () => 0, ...limits };
        return new Runtime({ ...services, ahead }, { commit }, cause => session.break(cause));
      },
    },
    ...options,
  });
  open.push(made);
  return made;
}

/** Runs a graph to its end. Returns how many steps ended in each commit, and the log without times. */
async function run(h: Harness, graph: Graph, tenantId?: string): Promise<{ ends: number[]; log: unknown[] }> {
  const workflow = h.workflow(graph, tenantId);
  const commits: RunEvent[][] = [];
  const { tenantId: tenant, workflowId } = workflow;
  h.orchestrator.subscribe({ tenantId: tenant, workflowId }, items =>
    commits.push(items.flatMap(item => (item.kind === 'event' ? [item.item.event] : []))),
  );
  const ref = await h.start(workflow, { session_id: 'session' });
  await h.ended(ref);
  return { ends: commits.map(endsIn), log: await logOf(h, ref) };
}

const endsIn = (events: readonly RunEvent[]): number =>
  events.filter(({ type }) => type === 'step_completed' || type === 'step_failed').length;

async function logOf(h: Harness, ref: RunRef): Promise<unknown[]> {
  return (await h.events(ref)).map(({ event, seq }) => {
    const { at: _, ...rest } = event;
    const data = 'term' in rest.data ? { ...rest.data, term: 0 } : rest.data;
    return { ...rest, data, seq };
  });
}

describe('a burst ends', () => {
  const at = (limits: Partial<AheadLimits>) => new Burst({ ...AHEAD_LIMITS, stopwatch: () => 0, ...limits });
  const text = (length: number): Outcome => ({ kind: 'completed', result: 'x'.repeat(length) });

  test('with 64 steps, and not with 63', () => {
    const burst = at({});
    for (let step = 0; step < 63; step++) burst.evaluated(text(0));
    expect(burst.isOver).toBe(false);
    burst.evaluated(text(0));
    expect(burst.isOver).toBe(true);
  });

  test('after 2 ms, and not just before', () => {
    let now = 1_000;
    const burst = at({ stopwatch: () => now });
    now += 1.999;
    expect(burst.isOver).toBe(false);
    now = 1_002;
    expect(burst.isOver).toBe(true);
    now = 1_002.001;
    expect(burst.isOver).toBe(true);
  });

  test('with 256 KB of results, and not with a byte less', () => {
    const burst = at({});
    // A text counts 16 bytes more than its characters.
    burst.evaluated(text(256 * 1024 - 1 - 16));
    expect(burst.isOver).toBe(false);
    const full = at({});
    full.evaluated(text(256 * 1024 - 16));
    expect(full.isOver).toBe(true);
    burst.evaluated(text(100));
    expect(burst.isOver).toBe(true);
  });
});

test('pure steps share one commit with what leads to them; a start is committed by itself', async () => {
  const { ends } = await run(await harness(), chain(10, 'pure'));
  expect(ends).toEqual([0, 10]);
});

test.each([
  ['below the limit', 65, [0, 65]],
  ['at the limit', 66, [0, 65, 1]],
  ['above the limit', 140, [0, 65, 65, 10]],
])('a chain %s of 64 steps ahead', async (_, length, expected) => {
  const { ends } = await run(await harness(), chain(length, 'pure'));
  expect(ends).toEqual(expected);
});

test('the time of a turn ends it', async () => {
  let now = 0;
  const slow = pure(attempt => {
    now += 0.5;
    return from(attempt);
  });
  const { ends } = await run(await harness({ types: [slow], limits: { stopwatch: () => now } }), chain(10, 'pure'));
  // The first step of each turn was executed before; four more take 2 ms.
  expect(ends).toEqual([0, 5, 5]);
});

test('the size of its results ends it', async () => {
  const wide = pure(() => ({ kind: 'completed', result: 'x'.repeat(50_000) }));
  const { ends } = await run(await harness({ types: [wide] }), chain(10, 'pure'));
  expect(ends).toEqual([0, 7, 3]);
});

describe('the log is what separate turns write', () => {
  const join = (...depends_on: string[]) => ({ depends_on, type: 'pure' });
  const graph: Graph = {
    steps: [
      { id: 'a', type: 'pure' },
      { id: 'b', ...join('a') },
      { id: 'c', ...join('a'), on_error: 'continue' },
      { id: 'd', ...join('b', 'c') },
      { id: 'e', type: 'echo', depends_on: ['d'] },
      { id: 'f', ...join('e') },
      { id: 'g', ...join('f') },
      { id: 'h', ...join('f') },
    ],
  };
  const failed = (code: string): Outcome => ({ kind: 'failed', error: { code, message: '' }, retryable: false });
  const throws = () => {
    throw new Error('a defect');
  };
  test.each<[string, (attempt: Attempt) => Outcome]>([
    ['of steps that complete', from],
    ['of a failure that is tolerated', attempt => (attempt.step.id === 'c' ? failed('boom') : from(attempt))],
    ['of a failure that ends the run', attempt => (attempt.step.id === 'g' ? failed('boom') : from(attempt))],
    ['of a step that throws', attempt => (attempt.step.id === 'd' ? throws() : from(attempt))],
    [
      'of a result that is too large',
      attempt => (attempt.step.id === 'd' ? { kind: 'completed', result: 'x'.repeat(1_100_000) } : from(attempt)),
    ],
  ])('%s', async (_, decide) => {
    const ahead = await run(await harness({ types: [pure(decide)] }), graph);
    await open.pop()?.orchestrator.close();
    const separate = await run(await harness({ types: [pure(decide, false)] }), graph);
    expect(ahead.log).toEqual(separate.log);
    expect(ahead.ends.length).toBeLessThan(separate.ends.length);
  });

  test.each([0, 100, 450, 500, 1_000])('with %i credits', async balance => {
    const logs: unknown[] = [];
    for (const isAhead of [true, false]) {
      const credits = new TestCredits(db.pool, {});
      const tenant = crypto.randomUUID();
      await credits.grant(tenant, 'payg', Math.max(100, balance));
      const h = await harness({ credits, types: [pure(from, isAhead)] });
      logs.push((await run(h, chain(10, 'pure'), tenant)).log, await credits.read(tenant));
      await open.pop()?.orchestrator.close();
    }
    expect(logs[0]).toEqual(logs[2]);
    expect(logs[1]).toEqual(logs[3]);
  });
});

test('the step after a burst is executed when its start is committed', async () => {
  const gate = new Gate();
  const h = await harness({ types: [pure(from), gate.type] });
  const ref = await h.start(
    h.workflow({ steps: [...chain(5, 'pure').steps, { id: 'z', type: 'gate', depends_on: ['s4'] }] }),
  );
  await gate.arrived(1);
  expect(outline(await h.events(ref)).at(-1)).toBe('step_started z');
  gate.waiting[0]?.settle({ kind: 'completed', result: null });
  await h.ended(ref);
});

test('a value that the database refuses fails its own step, and the steps before it stay', async () => {
  const refused = pure(attempt =>
    attempt.step.id === 's5' ? { kind: 'completed', result: 'REFUSED' } : from(attempt),
  );
  const h = await harness({ types: [refused], refuses: 'REFUSED' });
  const { log } = await run(h, chain(8, 'pure'));
  const attempts = log.filter(event => (event as RunEvent).type === 'step_started') as { step: string }[];
  expect(attempts.filter(({ step }) => step === 's5')).toHaveLength(1);
  expect(log).toContainEqual(
    expect.objectContaining({
      type: 'step_failed',
      step: 's5',
      data: expect.objectContaining({ error: expect.objectContaining({ code: 'not_storable' }) }),
    }),
  );
  expect(log.filter(event => (event as RunEvent).type === 'step_completed' && !isSkip(event))).toHaveLength(5);
});
const isSkip = (event: unknown): boolean => 'skipped' in ((event as RunEvent).data as object);

test('a run that was at work when its process died commits each step by itself', async () => {
  const gate = new Gate();
  const graph: Graph = {
    steps: [
      { id: 'z', type: 'gate' },
      ...chain(4, 'pure').steps.map((step, at) => ({ ...step, ...(at === 0 && { depends_on: ['z'] }) })),
    ],
  };
  const first = await harness({ types: [pure(from), gate.type] });
  const workflow = first.workflow(graph);
  const ref = await first.start(workflow);
  await gate.arrived(1);
  await open.pop()?.orchestrator.close();
  // The state that a killed process leaves.
  await db.pool.query('UPDATE leader_terms SET survived_at = NULL');
  const second = await harness({ types: [pure(from), gate.type] });
  const commits: number[] = [];
  second.orchestrator.subscribe({ tenantId: workflow.tenantId, workflowId: workflow.workflowId }, items =>
    commits.push(endsIn(items.flatMap(item => (item.kind === 'event' ? [item.item.event] : [])))),
  );
  await gate.arrived(2);
  gate.waiting[1]?.settle({ kind: 'completed', result: null });
  await second.ended(ref);
  expect(commits.filter(ends => ends > 0)).toEqual([1, 1, 1, 1, 1]);
});
