import { expect, test } from 'vitest';
import {
  type AttemptState,
  newRunState,
  type RunState,
  type StepState,
} from '@/server/domains/runs/reading/run-state.ts';
import { attemptsOf, progressOf, shownStatus, shownStep, stepOutcomeLabel, waitsFor } from './outcome.ts';

const steps = [
  { id: 'a', type: 'human_task' },
  { id: 'b', type: 'lua_script', depends_on: ['c'] },
  { id: 'c', type: 'lua_script' },
];

function runOf(patches: Record<string, Partial<StepState>>): RunState {
  const state = newRunState(steps.map(({ id }) => id));
  state.status = 'running';
  for (const [id, patch] of Object.entries(patches)) Object.assign(state.steps.get(id) ?? {}, patch);
  return state;
}

test('names the reason for which a step was skipped', () => {
  expect(stepOutcomeLabel({ status: 'skipped', skipReason: 'blocked' })).toBe('Skipped (blocked)');
  expect(stepOutcomeLabel({ status: 'skipped', skipReason: 'something_new' })).toBe('Skipped (something new)');
  expect(stepOutcomeLabel({ status: 'pending', skipReason: null })).toBe('Not started');
});

test('a run that only waits is shown as blocked or sleeping', () => {
  expect(shownStatus('running', 'people')).toBe('blocked');
  expect(shownStatus('running', 'time')).toBe('sleeping');
  expect(shownStatus('failed', null)).toBe('failed');
});

test('a run waits for people once no other step is in progress or ready', () => {
  const asked = { status: 'waiting' } as const;
  expect(waitsFor(runOf({ a: asked }), steps)).toBe(null);
  expect(waitsFor(runOf({ a: asked, c: { status: 'running' } }), steps)).toBe(null);
  expect(waitsFor(runOf({ a: asked, c: { status: 'completed', endedAt: 1 } }), steps)).toBe(null);
  const others = { b: { status: 'completed', endedAt: 2 }, c: { status: 'completed', endedAt: 1 } } as const;
  expect(waitsFor(runOf({ a: asked, ...others }), steps)).toBe('people');
  expect(waitsFor(runOf(others), steps)).toBe(null);
  expect(waitsFor(runOf({ a: { status: 'sleeping' }, ...others }), steps)).toBe('time');
  expect(waitsFor(runOf({ a: asked, x: { status: 'sleeping' }, ...others }), steps)).toBe('people');
  expect(waitsFor({ ...runOf({ a: asked, ...others }), status: 'paused' }, steps)).toBe(null);
});

test('a run waits for people if the only waiting steps are in a loop', () => {
  const attempt = { attempt: 1, startedAt: 1, endedAt: 2, outcome: 'completed', error: null, credits: 0 } as const;
  const loop = [{ id: 'each', type: 'for_each' }];
  const expanded = { ...newRunState(['each']), status: 'running' as const };
  Object.assign(expanded.steps.get('each') ?? {}, { status: 'running', attempts: [attempt] });
  const waiting = newRunState(['each.0.ask', 'each.1.ask']).steps;
  for (const [id, step] of waiting) expanded.steps.set(id, { ...step, status: 'waiting' });
  expect(waitsFor(expanded, loop)).toBe('people');
  Object.assign(waiting.get('each.1.ask') ?? {}, { status: 'running', attempts: [{ ...attempt, endedAt: null }] });
  expanded.steps.set('each.1.ask', waiting.get('each.1.ask') as StepState);
  expect(waitsFor(expanded, loop)).toBe(null);
});

test('a continued step counts as one attempt, and each retry as another', () => {
  const part = (outcome: AttemptState['outcome'], startedAt: number, attempt: number): AttemptState => {
    const error = outcome === 'failed' ? { code: 'no', message: 'no' } : null;
    return { attempt, startedAt, endedAt: startedAt + 5, outcome, error, credits: 1 };
  };
  // A loop expands, continues and fails; its second attempt expands and completes.
  const parts = [part('completed', 0, 1), part('failed', 10, 2), part('completed', 20, 3), part('completed', 30, 4)];
  expect(attemptsOf(parts)).toMatchObject([
    { attempt: 1, startedAt: 0, endedAt: 15, outcome: 'failed', credits: 2 },
    { attempt: 2, startedAt: 20, endedAt: 35, outcome: 'completed', error: null },
  ]);
  expect(attemptsOf([part('lost', 0, 1), part('running', 9, 2)]).map(({ outcome }) => outcome)).toEqual([
    'lost',
    'running',
  ]);
  expect(attemptsOf([])).toEqual([]);
});

test('progress counts the steps that ran, and a step with a reused result does not count as skipped', () => {
  const ran = [{ attempt: 1, startedAt: 1, endedAt: 2, outcome: 'completed', error: null, credits: 0 } as const];
  const state = runOf({
    a: { status: 'completed', endedAt: 2, attempts: ran },
    b: { status: 'skipped', endedAt: 1, reused: true, skipReason: 'out_of_scope' },
    c: { status: 'skipped', endedAt: 1, skipReason: 'branch_not_taken' },
  });
  expect(progressOf(state, () => true)).toEqual({ ran: 1, skipped: 1, reused: 1, total: 3 });
  const reused = { status: 'skipped', skipReason: 'out_of_scope', reused: true } as const;
  expect(shownStep(reused)).toEqual({ status: 'reused', detail: null });
  expect(stepOutcomeLabel(reused)).toBe('Reused');
  expect(shownStep({ ...reused, reused: false })).toEqual({ status: 'skipped', detail: 'out_of_scope' });
});
