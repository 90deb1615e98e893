import { describe, expect, test } from 'vitest';
import { began, changed, failed, runFailed, skipped, started } from '../../testing/engine/facts.ts';
import { specification } from '../../testing/engine/specification.ts';
import type { Command, GraphStep } from './index.ts';

const boom = { code: 'boom', message: 'It broke.' };
const step = (id: string, depends_on: string[] = [], more: object = {}): GraphStep => ({
  id,
  type: 'x',
  depends_on,
  ...more,
});
const tolerant = { on_error: 'continue' };
const fail = (id: string, more: Partial<Extract<Command, { type: 'attempt_failed' }>> = {}): Command => ({
  type: 'attempt_failed',
  step: id,
  attempt: 1,
  error: boom,
  retryable: false,
  random: 0,
  ...more,
});
const continued = (id: string, error = boom) => ({
  type: 'step_failed' as const,
  step: id,
  attempt: 1,
  data: { error, continues: true as const },
});

describe('a step with on_error: continue', () => {
  const chain = specification(step('a', [], tolerant), step('b', ['a']), step('c', ['b']));

  test('fails, and its dependents run', () => {
    const after = chain.given(started(), began('a')).when(fail('a'));
    after.then(continued('a'));
    const state = after.state();
    expect([...state.ready]).toEqual(['b']);
    expect(state.steps.get('a')).toMatchObject({ status: 'failed', error: boom });
    expect(state).toMatchObject({ status: 'running', error: null, done: 1 });
    expect(state.results.has('a')).toBe(false);
  });

  test('does not keep the run from completing, also as its last step', () => {
    specification(step('a', [], tolerant))
      .given(started(), began('a'))
      .when(fail('a'))
      .then(continued('a'), changed('running', 'completed'));
  });

  test('is retried first', () => {
    const retried = specification(step('a', [], { ...tolerant, retry_count: 1, retry_delay_s: 0 }), step('b', ['a']));
    const events = retried
      .given(started(), began('a'))
      .when(fail('a', { retryable: true }))
      .state();
    expect(events.steps.get('a')?.status).toBe('retrying');
  });

  test('fails the run if its workspace has no credits left', () => {
    const error = { code: 'insufficient_credits', message: 'Too few credits.' };
    const state = chain.given(started(), began('a')).when(fail('a', { error })).state();
    expect(state).toMatchObject({ status: 'failed', error: { ...error, step_id: 'a' } });
  });

  test('ends a run that is being stopped as stopped', () => {
    const state = chain
      .given(started(), began('a'), { type: 'stop_requested', data: { mode: 'graceful', by: 'ann' } })
      .when(fail('a'))
      .state();
    expect(state).toMatchObject({ status: 'stopped' });
    expect(state.steps.get('b')).toMatchObject({ skipReason: 'run_stopped' });
  });

  test('cannot be changed for one run', () => {
    const plain = specification(step('a'), step('b', ['a']));
    const start = started({ trigger_steps: { a: { on_error: 'continue' } } });
    expect(plain.given(start, began('a')).when(fail('a')).state().status).toBe('failed');
  });
});

test('a step without it fails the run and all other started steps', () => {
  specification(step('a', [], { on_error: 'fail' }), step('b', ['a']))
    .given(started(), began('a'))
    .when(fail('a'))
    .then(failed('a', boom), skipped('b', 'blocked'), runFailed('a'));
});

test('a condition that branches fails the run, one that validates does not', () => {
  const condition = (mode?: string) =>
    specification(step('a', [], { type: 'condition', ...tolerant, ...(mode && { mode }) }), step('b', ['a']));
  const statusOf = (mode?: string) => condition(mode).given(started(), began('a')).when(fail('a')).state().status;
  expect([statusOf(), statusOf('branch'), statusOf('validate')]).toEqual(['failed', 'failed', 'running']);
});

test('a join runs when one dependency failed and the other completed', () => {
  const join = specification(step('a', [], tolerant), step('b'), step('c', ['a', 'b']));
  const state = join
    .given(started(), began('a'), began('b'), continued('a'))
    .when({ type: 'attempt_succeeded', step: 'b', attempt: 1, result: 1 })
    .state();
  expect([...state.ready]).toEqual(['c']);
});

test('a human task that times out continues with the error', () => {
  const asked = specification(step('a', [], { type: 'human_task', ...tolerant }), step('b', ['a']));
  const task = { name: 'a', instructions: '', form: null, assignees: [], due_at: 0, on_timeout: 'fail' as const };
  const state = asked
    .given(started(), began('a'), { type: 'task_pending', step: 'a', attempt: 1, data: task })
    .when({ type: 'task_timed_out', step: 'a' })
    .state();
  expect(state.steps.get('a')?.error?.code).toBe('task_timed_out');
  expect([...state.ready]).toEqual(['b']);
});
