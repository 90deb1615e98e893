import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  createHarness,
  Gate,
  type Harness,
  type HarnessOptions,
  ManualTime,
  startRun,
} from '../../../testing/engine/runtime.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import type { Graph } from '../../core/index.ts';
import { unobserved } from '../../ports/observer.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());
const open: Harness[] = [];
async function harness(options: HarnessOptions = {}): Promise<Harness> {
  const made = await createHarness(db, options);
  open.push(made);
  return made;
}
afterEach(async () => {
  for (const h of open.splice(0)) await h.orchestrator.close();
});

const asking: Graph = { steps: [{ id: 'a', type: 'human_task', timeout_s: 60, on_timeout: 'reject' }] };
const completed = { kind: 'completed', result: null } as const;

test('rows with an unusable time stop no run: theirs are read from the log, and all runs are recovered', async () => {
  const gate = new Gate();
  const before = await harness({ types: [gate.type] });
  const bad = ["'infinity'", "'-infinity'", "'290000-01-01'"];
  const refs = await Promise.all([0, 1, 2, 3].map(n => before.start(before.workflow(asking, `tenant ${n}`))));
  for (const ref of refs) await before.until(ref, event => event.type === 'task_pending');
  const moving = await before.start(before.workflow({ steps: [{ id: 'a', type: 'gate' }] }, 'honest'));
  await gate.arrived(1);
  await before.orchestrator.close();
  for (const [n, time] of bad.entries())
    await db.pool.query(`UPDATE runs SET next_timer_at = ${time} WHERE id = $1`, [refs[n]?.runId]);

  const time = new ManualTime();
  const next = new Gate();
  const reported: number[] = [];
  const after = await harness({
    types: [next.type],
    clock: time.clock,
    alarm: time.alarm,
    observer: { ...unobserved, timersUnusable: runs => reported.push(runs) },
  });
  expect(await after.orchestrator.recovered).toEqual({ recovered: bad.length + 1 });
  expect(reported).toEqual([bad.length]);
  await next.arrived(1);
  next.waiting[0]?.settle(completed);
  await after.ended(moving);
  expect(after.orchestrator.liveRuns).toBe(0);
  time.advance(60_000);
  for (const ref of refs) await after.ended(ref);
});

test('if the timers cannot be read, the runs that have work to do continue', async () => {
  const gate = new Gate();
  const before = await harness({ types: [gate.type] });
  const moving = await before.start(before.workflow({ steps: [{ id: 'a', type: 'gate' }] }));
  await gate.arrived(1);
  await before.orchestrator.close();
  const pool = new Proxy(db.pool, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (name !== 'query') return typeof value === 'function' ? value.bind(target) : value;
      return (...query: Parameters<typeof target.query>) => {
        if (String(query[0]).includes('SELECT id, next_timer_at')) return Promise.reject(new Error('cannot be parsed'));
        return target.query(...query);
      };
    },
  });
  const next = new Gate();
  const after = await harness({ pool, types: [next.type] });
  await next.arrived(1);
  next.waiting[0]?.settle(completed);
  await after.ended(moving);
});

test('time limits that only an unchecked override can have neither fire early nor delay those of others', async () => {
  const time = new ManualTime();
  const gate = new Gate();
  const h = await harness({ types: [gate.type], clock: time.clock, alarm: time.alarm });
  const hostile = [{ timeout_s: {} }, { timeout_s: 'x' }, { timeout_s: 1e308 }, { timeout_s: -1 }, { timeout_s: 7e12 }];
  const honest = { steps: [{ id: 'a', type: 'gate', timeout_s: 5 }] };
  const [ours, theirs] = [h.workflow(honest), h.workflow(honest, 'hostile')];
  const refs = [];
  for (const override of hostile) {
    await h.orchestrator.start(startRun(theirs, { trigger_steps: { a: override } }));
    refs.push(await h.start(ours));
  }
  await gate.arrived(2 * hostile.length);
  time.advance(5_000);
  for (const ref of refs) await h.ended(ref);
  const alive = gate.waiting.filter(({ signal }) => !signal.aborted);
  expect(alive.map(({ attempt }) => attempt.run.tenantId)).toEqual(hostile.map(() => 'hostile'));
  for (const { settle } of alive) settle(completed);
});
