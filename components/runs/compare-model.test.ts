import { expect, test } from 'vitest';
import { newRunState, type RunState, type StepState } from '@/server/domains/runs/reading/run-state.ts';
import { compareRuns } from './compare-model.ts';

const attempt = { attempt: 1, startedAt: 100, endedAt: 150, outcome: 'completed' as const, error: null, credits: 0 };
const completed: Partial<StepState> = { status: 'completed', attempts: [attempt], endedAt: 150 };

function runOf(steps: Record<string, Partial<StepState>>): RunState {
  const state = newRunState(Object.keys(steps));
  for (const [id, patch] of Object.entries(steps)) Object.assign(state.steps.get(id) ?? {}, patch);
  return state;
}

test('outcomes, attempts and steps that only one run has are differences; durations are not', () => {
  const here = runOf({ same: completed, fails: { status: 'failed', attempts: [attempt] }, gone: completed });
  const slower = { ...completed, endedAt: 900 };
  const there = runOf({ same: slower, fails: completed, fresh: { status: 'skipped', skipReason: 'blocked' } });
  const compared = compareRuns(here, there);
  expect(compared.map(({ id, differs }) => [id, differs])).toEqual([
    ['same', false],
    ['fails', true],
    ['gone', true],
    ['fresh', true],
  ]);
  expect(compared[0]).toMatchObject({ here: { durationMs: 50 }, there: { durationMs: 800 } });
  expect(compared[2]).toMatchObject({ there: null });
  expect(compared[3]).toMatchObject({ here: null, there: { outcome: 'Skipped (blocked)', durationMs: null } });
});
