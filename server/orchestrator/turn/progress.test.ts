import { expect, test } from 'vitest';
import { runProjection } from '../../testing/engine/projection.ts';
import { ManualTime } from '../../testing/engine/runtime.ts';
import { Timers } from '../runtime/runs/timers.ts';
import { PROGRESS_LAG_MS, ProgressSweep, RunProgress } from './progress.ts';

const projectionAfter = (stepsDone: number, more = {}) =>
  runProjection({ stepsDone, lastSeq: stepsDone * 2, credits: stepsDone * 3, ...more });

test('only pure progress is delayed, up to the lag; everything else is written with its events', () => {
  const progress = new RunProgress();
  const takeDue = (stepsDone: number, now: number, more = {}) =>
    progress.take(projectionAfter(stepsDone, more), { now, must: false });
  expect(takeDue(0, 1_000)).toMatchObject({ stepsDone: 0 });
  expect(takeDue(1, 1_000 + PROGRESS_LAG_MS - 1)).toBeNull();
  expect(progress.behind).toBe(true);
  expect(takeDue(2, 1_000 + PROGRESS_LAG_MS)).toMatchObject({ stepsDone: 2 });
  expect(progress.behind).toBe(false);
  let now = 1_000 + PROGRESS_LAG_MS;
  const changes = [
    { phase: 'blocked' },
    { status: 'paused' },
    { pendingTasks: 1 },
    { nextTimerAt: 5 },
    { endedAt: 7 },
    { error: '{}' },
  ];
  for (const change of changes) {
    now += 1;
    expect(takeDue(3, now, change)).toMatchObject(change);
  }
});

test('a clock that was set back does not delay the progress, and catching up always writes', () => {
  const progress = new RunProgress();
  progress.take(projectionAfter(0), { now: 1_000_000, must: false });
  expect(progress.take(projectionAfter(1), { now: 5, must: false })).toMatchObject({ stepsDone: 1 });
  expect(progress.take(projectionAfter(2), { now: 6, must: false })).toBeNull();
  expect(progress.take(projectionAfter(2), { now: 6, must: true })).toMatchObject({ stepsDone: 2 });
});

test('runs that are behind catch up together, once, and only if they are still behind', () => {
  const time = new ManualTime();
  const sweep = new ProgressSweep(new Timers(time.clock, time.alarm), () => time.clock.now());
  const caught: string[] = [];
  const run = (name: string) => ({ catchUp: () => caught.push(name) });
  const [a, b, c] = [run('a'), run('b'), run('c')];
  for (const each of [a, b, a, c]) sweep.add(each);
  sweep.delete(b);
  time.advance(PROGRESS_LAG_MS - 1);
  expect(caught).toEqual([]);
  time.advance(1);
  expect(caught).toEqual(['a', 'c']);
  time.advance(10 * PROGRESS_LAG_MS);
  expect(caught).toEqual(['a', 'c']);
  sweep.add(b);
  time.advance(PROGRESS_LAG_MS);
  expect(caught).toEqual(['a', 'c', 'b']);
});
