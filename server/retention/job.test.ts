import { afterEach, beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../platform/clock.ts';
import { createTestDatabase, type TestDatabase } from '../platform/postgres/testing.ts';
import { startRetentionJob } from './job.ts';
import { idAt, makeMonths, NOW, partitionNames, silent, writeRuns } from './testing.ts';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db.close());

const HOUR = 3_600_000;
const AUGUST = Date.UTC(2026, 7, 15);

/** An alarm that rings when it is told to, and tells what for it was set. */
function manualAlarm() {
  const set: { delay: number; ring: () => void }[] = [];
  const waiting: (() => void)[] = [];
  return {
    alarm: (delay: number, ring: () => void) => {
      const one = { delay, ring };
      set.push(one);
      for (const tell of waiting.splice(0)) tell();
      return () => {
        set.splice(set.indexOf(one), 1);
      };
    },
    set,
    /** Rings, and returns for when the next alarm was set. */
    async ring(): Promise<number> {
      const next = new Promise<void>(resolve => waiting.push(resolve));
      set.shift()?.ring();
      await next;
      return set[0]?.delay ?? Number.NaN;
    },
  };
}

function start(policy = { runDays: 30, usageMonths: 0 }, more: { pause?: () => Promise<void> } = {}) {
  const alarm = manualAlarm();
  const state = { leading: true };
  const clock = new ManualClock(NOW);
  const job = startRetentionJob({
    database: db,
    clock,
    alarm: alarm.alarm,
    logger: silent,
    policy,
    leading: () => state.leading,
    pause: async () => undefined,
    ...more,
  });
  return { job, alarm, state, clock };
}

test('once a day the leader makes the months to come and gives up what is past; others only look', async () => {
  await makeMonths(db.pool);
  await writeRuns(db.pool, [{ id: idAt(AUGUST), endedAt: AUGUST }]);
  const { job, alarm, state, clock } = start();
  expect(alarm.set.map(({ delay }) => delay)).toEqual([60_000]);
  state.leading = false;
  expect(await alarm.ring()).toBe(HOUR);
  expect(await partitionNames(db.pool)).toContain('run_events_2026_08');
  state.leading = true;
  clock.advance(30 * 24 * HOUR);
  expect(await alarm.ring()).toBe(24 * HOUR);
  const names = await partitionNames(db.pool);
  expect(names).toContain('run_events_2027_02');
  expect(names).not.toContain('run_events_2026_08');
  expect((await db.pool.query('SELECT FROM runs')).rowCount).toBe(0);
  await job.close();
  expect(alarm.set).toEqual([]);
});

test('without a policy nothing goes, and the months are made all the same', async () => {
  await makeMonths(db.pool);
  await writeRuns(db.pool, [{ id: idAt(AUGUST), endedAt: AUGUST }]);
  const { job, alarm, clock } = start({ runDays: 0, usageMonths: 0 });
  clock.advance(31 * 24 * HOUR);
  expect(await alarm.ring()).toBe(24 * HOUR);
  expect(await partitionNames(db.pool)).toEqual(expect.arrayContaining(['run_events_2026_08', 'run_usage_2027_02']));
  await job.close();
});

test('what was locked, and a pass that failed, is tried again in an hour', async () => {
  await makeMonths(db.pool);
  await writeRuns(db.pool, [{ id: idAt(AUGUST), endedAt: AUGUST }]);
  const { job, alarm } = start();
  const reader = await db.pool.connect();
  await reader.query('BEGIN; SELECT FROM run_events LIMIT 1');
  expect(await alarm.ring()).toBe(HOUR);
  await reader.query('COMMIT');
  reader.release();
  expect(await alarm.ring()).toBe(24 * HOUR);
  await db.pool.query('ALTER TABLE run_rejections RENAME TO elsewhere');
  expect(await alarm.ring()).toBe(HOUR);
  await job.close();
});

test('closing ends a pass between two of its steps', async () => {
  await makeMonths(db.pool);
  await writeRuns(db.pool, [{ id: idAt(AUGUST), endedAt: AUGUST }]);
  const reached = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const pause = () => {
    reached.resolve();
    return go.promise;
  };
  const { job, alarm } = start(undefined, { pause });
  alarm.set.shift()?.ring();
  await reached.promise;
  const closed = job.close();
  go.resolve();
  await closed;
  expect(alarm.set).toEqual([]);
  expect(await partitionNames(db.pool)).toContain('run_events_2026_08');
});
