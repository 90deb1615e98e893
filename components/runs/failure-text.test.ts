import { expect, test } from 'vitest';
import { newRunState } from '@/server/domains/runs/reading/run-state.ts';
import { failureOf, scriptError } from './failure-text.ts';

const attempt = { attempt: 1, startedAt: 0, endedAt: 1, outcome: 'failed' as const, error: null, credits: 0 };

test('the line is read from the message of a script error', () => {
  expect(scriptError('script:12: no luck')).toEqual({ line: 12, text: 'no luck' });
  expect(scriptError('script:1: two\nlines')).toEqual({ line: 1, text: 'two\nlines' });
  expect(scriptError('the service answered 503')).toBeNull();
});

test('a failed run names the place and the reason of the failure once', () => {
  const state = newRunState(['a']);
  expect(failureOf(state, id => id)).toBeNull();
  state.error = { code: 'lua_error', message: 'script:2: no luck', step_id: 'a' };
  expect(failureOf(state, () => 'Add up')).toEqual({
    stepName: 'Add up',
    stepId: 'a',
    at: 'in line 2 of its script',
    why: 'no luck',
  });
  const step = state.steps.get('a');
  if (step) step.attempts = [attempt, { ...attempt, attempt: 2 }];
  state.error = { code: 'http_error', message: 'the service answered 503', step_id: 'a' };
  expect(failureOf(state, id => id)).toMatchObject({ at: 'after 2 attempts', why: 'the service answered 503' });
});
