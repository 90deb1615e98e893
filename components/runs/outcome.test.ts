import { expect, test } from 'vitest';
import { newRunState, type RunState, type StepState } from '@/server/domains/runs/run-state.ts';
import { shownStatus, stepOutcomeLabel, waitsFor } from './outcome.ts';

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

test('a run that only waits is shown as what it waits for', () => {
  expect(shownStatus('running', 'people')).toBe('blocked');
  expect(shownStatus('running', 'time')).toBe('sleeping');
  expect(shownStatus('failed', null)).toBe('failed');
});

test('a run waits for people once nothing else is in flight or could start', () => {
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

test('a run waits for people where only the steps of a loop wait', () => {
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
