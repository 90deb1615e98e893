import { expect, test } from 'vitest';
import { compile, decide, effects, evolve, MAX_WAIT_S, newRun, phase, type RunEvent, type RunState } from './index.ts';

const AT = 1_800_000_000_000;
const graph = {
  steps: [
    { id: 'wait', type: 'wait', seconds: 60 },
    { id: 'after', type: 'lua_script', depends_on: ['wait'] },
  ],
};

function apply(state: RunState, command: Parameters<typeof decide>[1], now: number): RunEvent[] {
  const events = decide(state, command, now);
  for (const event of events) evolve(state, event);
  return events;
}

const started = {
  version: 1,
  input: {},
  mode: 'normal',
  trigger_type: 'manual',
  trigger_steps: {},
  seed_results: {},
  session_id: 's',
  started_by: 'ann',
} as const;

function sleepingRun(until: number): RunState {
  const state = newRun('run', compile(graph));
  apply(state, { type: 'start', data: started }, AT);
  apply(state, { type: 'start_attempt', step: 'wait' }, AT);
  apply(state, { type: 'attempt_sleeping', step: 'wait', attempt: 1, until }, AT);
  return state;
}

const wake = { type: 'wake', step: 'wait', credits: 5 } as const;
const endOf = (state: RunState) => state.steps.get('wait')?.status;

test('a wait holds no attempt, has one timer, and ends when it is due, not before', () => {
  const state = sleepingRun(AT + 60_000);
  expect(endOf(state)).toBe('sleeping');
  expect([...effects(state).inFlight]).toEqual([]);
  expect([...effects(state).timers]).toEqual([{ step: 'wait', kind: 'wait', dueAt: AT + 60_000 }]);
  expect(phase(state)).toBe('blocked');
  expect(apply(state, wake, AT + 59_999)).toEqual([]);
  expect(apply(state, wake, AT + 60_000)).toMatchObject([
    { type: 'step_completed', data: { result: { waited_until: new Date(AT + 60_000).toISOString() }, credits: 5 } },
  ]);
  expect([...effects(state).ready]).toEqual(['after']);
  expect(apply(state, wake, AT + 60_001)).toEqual([]);
});

test('its time does not move while the run is paused', () => {
  const state = sleepingRun(AT + 60_000);
  apply(state, { type: 'pause', by: 'ann' }, AT + 1);
  expect([...effects(state).timers]).toEqual([]);
  expect(apply(state, wake, AT + 90_000)).toEqual([]);
  apply(state, { type: 'resume', by: 'ann' }, AT + 90_000);
  expect([...effects(state).timers]).toMatchObject([{ dueAt: AT + 60_000 }]);
  expect(apply(state, wake, AT + 90_000)).toHaveLength(1);
});

test.each(['immediate', 'graceful'] as const)('a stop (%s) cancels it', mode => {
  const state = sleepingRun(AT + 60_000);
  const events = apply(state, { type: 'stop', mode, by: 'ann' }, AT + 1);
  expect(events.map(({ type }) => type)).toEqual(['step_cancelled', 'step_completed', 'state_changed']);
  expect(apply(state, wake, AT + 60_000)).toEqual([]);
  expect(state.sleeping.size).toBe(0);
});

test('a run that is being stopped does not begin to wait', () => {
  const both = { steps: [...graph.steps, { id: 'other', type: 'lua_script' }] };
  const state = newRun('run', compile(both));
  apply(state, { type: 'start', data: started }, AT);
  for (const step of ['wait', 'other']) apply(state, { type: 'start_attempt', step }, AT);
  apply(state, { type: 'stop', mode: 'graceful', by: 'ann' }, AT);
  apply(state, { type: 'attempt_sleeping', step: 'wait', attempt: 1, until: AT + 1 }, AT);
  expect(endOf(state)).toBe('cancelled');
});

test.each([
  [Number.NaN, AT],
  [Number.POSITIVE_INFINITY, AT],
  [AT - 5, AT],
  [AT + MAX_WAIT_S * 1000, AT + MAX_WAIT_S * 1000],
  [AT + MAX_WAIT_S * 1000 + 1, AT + MAX_WAIT_S * 1000],
])('the log takes a usable time for %d', (until, logged) => {
  expect([...effects(sleepingRun(until)).timers]).toMatchObject([{ dueAt: logged }]);
});

test('a late outcome of an attempt changes nothing', () => {
  const state = sleepingRun(AT + 60_000);
  expect(decide(state, { type: 'attempt_sleeping', step: 'wait', attempt: 1, until: AT }, AT)).toEqual([]);
});
