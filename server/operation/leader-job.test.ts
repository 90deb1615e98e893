import { expect, test } from 'vitest';
import { type Alarm, DAY_MS } from '../platform/clock.ts';
import { createDailyPurge, startLeaderJob } from './leader-job.ts';

/** Alarms that the test rings, and the delays for which they were set. */
function alarms() {
  const set: number[] = [];
  let ring = () => {};
  const alarm: Alarm = (delayMs, due) => {
    set.push(delayMs);
    ring = due;
    return () => {};
  };
  const next = async () => {
    const before = set.length;
    ring();
    await expect.poll(() => set.length).toBeGreaterThan(before);
  };
  return { alarm, set, next };
}

test('only the leading process works; a standby checks again later, and a failed pass is logged and repeated', async () => {
  const { alarm, set, next } = alarms();
  const logged: unknown[] = [];
  const logger = { error: (...said: unknown[]) => logged.push(said), warn: () => {} };
  let leads = false;
  const results: (number | undefined | Error)[] = [undefined, 5, new Error('gone'), 7];
  const timing = { firstMs: 60, everyMs: 20, retryMs: 100, late: 'late' };
  const job = startLeaderJob({ alarm, leading: () => leads, logger, ...timing }, async () => {
    const result = results.shift();
    if (result instanceof Error) throw result;
    return result;
  });
  await next();
  expect(results).toHaveLength(4);
  leads = true;
  for (let pass = 0; pass < 4; pass += 1) await next();
  expect(set).toEqual([60, 20, 20, 5, 100, 7]);
  expect(logged).toEqual([[{ err: expect.any(Error) }, 'late']]);
  await job.close();
});

test('a pass that ends because the service closes is not a failure', async () => {
  const { alarm, set } = alarms();
  let began = () => {};
  const working = new Promise<void>(resolve => {
    began = resolve;
  });
  const logged: unknown[] = [];
  const log = (...said: unknown[]) => logged.push(said);
  let ring = () => {};
  const job = startLeaderJob(
    {
      alarm: (delayMs, due) => {
        ring = due;
        return alarm(delayMs, due);
      },
      leading: () => true,
      logger: { error: log, warn: log },
      everyMs: 20,
      retryMs: 100,
      late: 'late',
    },
    closing =>
      new Promise((_, reject) => {
        closing.addEventListener('abort', () => reject(closing.reason));
        began();
      }),
  );
  ring();
  await working;
  await job.close();
  expect(logged).toEqual([]);
  expect(set).toEqual([20]);
});

test('a purge runs once a day, repeats each kind until nothing is left to delete, and ends when the service closes', async () => {
  let now = 5;
  const left = { old: [2, 1, 0, 3, 0], stale: [0, 0] };
  const purged: [string, number][] = [];
  const kind = (name: 'old' | 'stale') => async (at: number) => {
    purged.push([name, at]);
    return left[name].shift() ?? 0;
  };
  const purge = createDailyPurge({ now: () => now }, kind('old'), kind('stale'));
  const open = new AbortController().signal;
  await purge(open);
  expect(purged).toEqual([
    ['old', 5],
    ['old', 5],
    ['old', 5],
    ['stale', 5],
  ]);
  now += DAY_MS - 1;
  await purge(open);
  expect(purged).toHaveLength(4);
  now += 1;
  await purge(open);
  expect(purged.slice(4)).toEqual([
    ['old', now],
    ['old', now],
    ['stale', now],
  ]);
  now += DAY_MS;
  await purge(AbortSignal.abort());
  expect(purged).toHaveLength(7);
});
