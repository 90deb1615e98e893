import { expect, test } from 'vitest';
import { newRunState, type StepState } from '@/server/domains/runs/reading/run-state.ts';
import { type ComparedRun, compareRuns, itemsOfBoth } from './compare-model.ts';
import type { LoopCounts } from './use-loops-drawn.tsx';

const attempt = { attempt: 1, startedAt: 100, endedAt: 150, outcome: 'completed' as const, error: null, credits: 0 };
const completed: Partial<StepState> = { status: 'completed', attempts: [attempt], endedAt: 150 };
const failed: Partial<StepState> = { status: 'failed', attempts: [attempt], endedAt: 150 };
type Steps = Record<string, Partial<StepState>>;

function statesOf(steps: Steps) {
  const state = newRunState(Object.keys(steps));
  for (const [id, patch] of Object.entries(steps)) Object.assign(state.steps.get(id) ?? {}, patch);
  return state;
}

type Items = { inner?: Steps; counts?: Record<string, LoopCounts>; reading?: boolean };

const counted = (total: number, failed_items: number[] = []): LoopCounts => ({
  id: 'each',
  index: 2,
  total,
  ended: total,
  failed: failed_items.length,
  failed_items,
});

/** Returns a run with these steps. `inner`: the steps in the shown items, by their ids in the run. */
function runOf(steps: Steps, { inner = {}, counts = {}, reading = false }: Items = {}): ComparedRun {
  const nodeOf = (id: string) => id.replaceAll(/\.\d+\./g, '.');
  const states = new Map([...statesOf(inner).steps].map(([id, step]) => [nodeOf(id), step]));
  return { state: statesOf(steps), loops: { states, counts: new Map(Object.entries(counts)), reading } };
}

const differences = (here: ComparedRun, there: ComparedRun) =>
  compareRuns(here, there).map(({ id, differs }) => [id, differs] as const);

test('outcomes, attempts and steps that only one run has are differences; durations are not', () => {
  const here = runOf({ same: completed, fails: { status: 'failed', attempts: [attempt] }, gone: completed });
  const slower = { ...completed, endedAt: 900 };
  const there = runOf({ same: slower, fails: completed, fresh: { status: 'skipped', skipReason: 'blocked' } });
  expect(differences(here, there)).toEqual([
    ['same', false],
    ['fails', true],
    ['gone', true],
    ['fresh', true],
  ]);
  const compared = compareRuns(here, there);
  expect(compared[0]).toMatchObject({ here: { durationMs: 50 }, there: { durationMs: 800 } });
  expect(compared[2]).toMatchObject({ there: null });
  expect(compared[3]).toMatchObject({ here: null, there: { outcome: 'Skipped (blocked)', durationMs: null } });
});

test('the steps of an open loop follow it, with their differences in the shown item', () => {
  const counts = { each: counted(3) };
  const here = runOf(
    { each: completed, last: completed },
    { inner: { 'each.2.a': completed, 'each.2.b': completed }, counts },
  );
  const there = runOf(
    { each: completed, last: completed },
    { inner: { 'each.2.a': completed, 'each.2.b': failed }, counts },
  );
  expect(differences(here, there)).toEqual([
    ['each', false],
    ['each.2.a', false],
    ['each.2.b', true],
    ['last', false],
  ]);
  expect(compareRuns(here, there)[2]).toMatchObject({ node: 'each.b', there: { outcome: 'Failed' } });
});

test('a loop differs if the number of its items or of its failed items differs', () => {
  const loopRun = (total: number, failed: number[]) =>
    runOf({ each: completed }, { counts: { each: counted(total, failed) } });
  expect(differences(loopRun(30, [1, 2, 3]), loopRun(30, [1, 2, 3]))).toEqual([['each', false]]);
  expect(differences(loopRun(30, [1, 2, 3]), loopRun(30, [1, 2]))).toEqual([['each', true]]);
  expect(compareRuns(loopRun(30, [1, 2, 3]), loopRun(1, []))[0]).toMatchObject({
    differs: true,
    here: { outcome: 'Success, 30 items, 3 failed' },
    there: { outcome: 'Success, 1 item' },
  });
});

test('a step that only one of two items has differs, but not while the items are being read', () => {
  const here = { inner: { 'each.4.a': completed } };
  expect(differences(runOf({ each: completed }, here), runOf({ each: completed }))).toEqual([
    ['each', false],
    ['each.4.a', true],
  ]);
  expect(differences(runOf({ each: completed }, here), runOf({ each: completed }, { reading: true }))).toEqual([
    ['each', false],
  ]);
});

test('a running step of a loop item is listed once', () => {
  const steps = { each: { status: 'running' as const }, 'each.0.a': { status: 'running' as const } };
  expect(differences(runOf(steps, { inner: { 'each.0.a': {} } }), runOf(steps, { inner: { 'each.0.a': {} } }))).toEqual(
    [
      ['each', false],
      ['each.0.a', false],
    ],
  );
});

test('itemsOfBoth returns a loop’s items in two runs, with those that failed in either run', () => {
  const loopRun = (total: number, failed: number[]) => runOf({}, { counts: { each: counted(total, failed) } }).loops;
  expect(itemsOfBoth(loopRun(30, [9, 19]), loopRun(40, [4, 19]))).toEqual([
    { node: 'each', id: 'each', index: 2, total: 40, ended: 30, failed: 3, failed_items: [4, 9, 19] },
  ]);
  expect(itemsOfBoth(runOf({}).loops, loopRun(2, []))).toMatchObject([{ node: 'each', total: 2 }]);
});
