import { afterEach, beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../../platform/clock.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { idAt, makeMonths, NOW, partitionNames, silent, writeRuns } from '../../testing/retention.ts';
import { MAX_CLOCK_ADVANCE_MS, MAX_CLOCK_SKEW_MS } from './clock.ts';
import { type RetentionJobOptions, startRetentionJob } from './job.ts';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db.close());

const HOUR = 3_600_000;
const AUGUST = Date.UTC(2026, 7, 15);

/** Returns an alarm that the test triggers, and that shows the time for which it was set. */
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
    /** Triggers the alarm, and returns the time for which the next alarm was set. */
    async ring(): Promise<number> {
      const next = new Promise<void>(resolve => waiting.push(resolve));
      set.shift()?.ring();
      await next;
      return set[0]?.delay ?? Number.NaN;
    },
  };
}

function start(policy = { runDays: 30, usageMonths: 0, auditDays: 0 }, more: Partial<RetentionJobOptions> = {}) {
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
    databaseClock: async () => clock.now(),
    ...more,
  });
  return { job, alarm, state, clock };
}

test('once a day the leader creates the coming months and purges expired ones; other processes only check', async () => {
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

test('without a policy nothing is purged, but the months are created', async () => {
  await makeMonths(db.pool);
  await writeRuns(db.pool, [{ id: idAt(AUGUST), endedAt: AUGUST }]);
  const { job, alarm, clock } = start({ runDays: 0, usageMonths: 0, auditDays: 0 });
  clock.advance(31 * 24 * HOUR);
  expect(await alarm.ring()).toBe(24 * HOUR);
  expect(await partitionNames(db.pool)).toEqual(expect.arrayContaining(['run_events_2026_08', 'run_usage_2027_02']));
  await job.close();
});

test('locked partitions, and failed passes, are tried again in an hour', async () => {
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

const countRuns = async () => (await db.pool.query('SELECT FROM runs')).rowCount;

test('a clock that jumps deletes nothing, whatever the database says, until it is correct again', async () => {
  await makeMonths(db.pool);
  await writeRuns(db.pool, [{ id: idAt(AUGUST), endedAt: AUGUST }]);
  const doubts: boolean[] = [];
  // Kept for 200 days, so nothing has expired unless the clock is wrong.
  const { job, alarm, clock } = start(
    { runDays: 200, usageMonths: 0, auditDays: 0 },
    { onClockDoubt: doubt => doubts.push(doubt) },
  );
  expect(await alarm.ring()).toBe(24 * HOUR);
  clock.advance(365 * 24 * HOUR);
  expect(await alarm.ring()).toBe(HOUR);
  expect(await alarm.ring()).toBe(HOUR);
  expect(await countRuns()).toBe(1);
  clock.advance(-364 * 24 * HOUR);
  expect(await alarm.ring()).toBe(24 * HOUR);
  // A clock that is behind is trusted, and does not change the recorded time.
  clock.advance(-30 * 24 * HOUR);
  expect(await alarm.ring()).toBe(24 * HOUR);
  clock.advance(30 * 24 * HOUR + MAX_CLOCK_ADVANCE_MS);
  expect(await alarm.ring()).toBe(24 * HOUR);
  clock.advance(MAX_CLOCK_ADVANCE_MS + 1);
  expect(await alarm.ring()).toBe(HOUR);
  expect(doubts).toEqual([false, true, true, false, false, false, true]);
  expect(await countRuns()).toBe(1);
  await job.close();
});

test.each([1, -1])('a clock that differs from the database by more than an hour (%s) deletes nothing', async sign => {
  await makeMonths(db.pool);
  await writeRuns(db.pool, [{ id: idAt(AUGUST), endedAt: AUGUST }]);
  let skew = sign * (MAX_CLOCK_SKEW_MS + 1);
  const { job, alarm, clock } = start(undefined, { databaseClock: async () => clock.now() - skew });
  expect(await alarm.ring()).toBe(HOUR);
  expect(await countRuns()).toBe(1);
  skew = sign * MAX_CLOCK_SKEW_MS;
  expect(await alarm.ring()).toBe(24 * HOUR);
  expect(await countRuns()).toBe(0);
  await job.close();
});

test('the clock of the database is used if no other is given', async () => {
  await makeMonths(db.pool);
  await writeRuns(db.pool, [{ id: idAt(AUGUST), endedAt: AUGUST }]);
  const clock = new ManualClock(Date.now() + 2 * HOUR);
  const { job, alarm } = start(undefined, { databaseClock: undefined, clock });
  expect(await alarm.ring()).toBe(HOUR);
  expect(await countRuns()).toBe(1);
  await job.close();
});

test('without a policy any clock is noted, so that a policy may be set later', async () => {
  const forEver = start({ runDays: 0, usageMonths: 0, auditDays: 0 });
  await forEver.alarm.ring();
  forEver.clock.advance(90 * 24 * HOUR);
  await forEver.alarm.ring();
  await forEver.job.close();
  const { job, alarm, clock } = start();
  clock.advance(91 * 24 * HOUR);
  expect(await alarm.ring()).toBe(24 * HOUR);
  await job.close();
});
