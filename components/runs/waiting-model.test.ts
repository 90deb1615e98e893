import { expect, test } from 'vitest';
import { newRunState, type StepState } from '@/server/domains/runs/reading/run-state.ts';
import { awaitedBy } from './waiting-model.ts';

const ended = { attempt: 1, startedAt: 5, endedAt: 6, outcome: 'completed', error: null, credits: 0 } as const;
const steps = [
  { id: 'ask', type: 'human_task', name: 'Ask Finance' },
  { id: 'nap', type: 'wait' },
  { id: 'again', type: 'lua_script' },
  { id: 'call', type: 'call_workflow' },
  { id: 'each', type: 'for_each', concurrency: 2 },
];
const run = { run_id: 'r', workflow_id: 'w' };

function stateOf(patches: Record<string, Partial<StepState>>) {
  const state = newRunState([...steps.map(({ id }) => id), 'each.0.a', 'each.4.a']);
  state.status = 'running';
  for (const step of state.steps.values()) step.endedAt = 9;
  for (const [id, patch] of Object.entries(patches)) Object.assign(state.steps.get(id) ?? {}, { endedAt: null }, patch);
  return state;
}

test('a run waits for people, timers, called runs and limits, in this order', () => {
  const state = stateOf({
    each: { status: 'running', attempts: [ended] },
    'each.0.a': { status: 'running', attempts: [{ ...ended, endedAt: null }] },
    'each.4.a': { status: 'running', attempts: [{ ...ended, endedAt: null }] },
    call: { status: 'running', attempts: [ended], childRun: run },
    again: { status: 'retrying', dueAt: 70 },
    nap: { status: 'sleeping', dueAt: 60 },
    ask: { status: 'waiting', attempts: [{ ...ended, endedAt: null }] },
  });
  expect(awaitedBy(state, steps)).toEqual([
    { kind: 'person', id: 'ask', name: 'Ask Finance', at: 5 },
    { kind: 'timer', id: 'nap', name: 'nap', at: 60 },
    { kind: 'retry', id: 'again', name: 'again', at: 70 },
    { kind: 'call', id: 'call', name: 'call', run },
    { kind: 'limit', id: 'each', name: 'each', most: 2 },
  ]);
  Object.assign(state, { status: 'paused', pauseReason: 'insufficient_credits' });
  expect(awaitedBy(state, steps)[0]?.kind).toBe('credits');
  Object.assign(state, { status: 'failed' });
  expect(awaitedBy(state, steps)).toEqual([]);
});

test('a loop with room for more items does not wait, and neither does a running step', () => {
  const state = stateOf({
    each: { status: 'running', attempts: [ended] },
    'each.0.a': { status: 'running', attempts: [{ ...ended, endedAt: null }] },
    again: { status: 'running', attempts: [{ ...ended, endedAt: null }] },
  });
  expect(awaitedBy(state, steps)).toEqual([]);
});
