import { describe, expect, test } from 'vitest';
import {
  asked,
  began,
  boom,
  cancelled,
  changed,
  done,
  failed,
  logged,
  retrying,
  runFailed,
  skipped,
  started,
  stopRequested,
  taskRequest,
} from '../../testing/engine/facts.ts';
import { NOW, specification } from '../../testing/engine/specification.ts';
import { MAX_LOST_ATTEMPTS } from './attempts.ts';
import type { Command, GraphStep, JsonValue } from './index.ts';

const a: GraphStep = { id: 'a', type: 'x', retry_count: 2, retry_delay_s: 4 };
const chain = specification(a, { id: 'b', type: 'x', depends_on: ['a'] });
const begin = (step = 'a'): Command => ({ type: 'start_attempt', step });
const succeed = (step: string, attempt = 1, result: JsonValue = null, log?: string[]): Command => ({
  type: 'attempt_succeeded',
  step,
  attempt,
  result,
  log,
});
const fail = (step: string, attempt = 1, more: object = {}): Command => ({
  type: 'attempt_failed',
  step,
  attempt,
  error: boom,
  retryable: true,
  random: 1,
  ...more,
});

describe('start_attempt', () => {
  test('begins a ready step', () => {
    chain.given(started()).when(begin()).then(began('a'));
  });

  test('does not begin a step that is not ready, has ended, waits or does not exist', () => {
    chain.given(started()).when(begin('b')).thenNothing();
    chain.given(started()).when(begin('nowhere')).thenNothing();
    chain.given(started(), began('a'), done('a')).when(begin()).thenNothing();
    chain.given(started(), began('a'), asked('a')).when(begin()).thenNothing();
  });

  test('begins a dependent only after all its dependencies have ended', () => {
    const join = specification(a, { id: 'b', type: 'x' }, { id: 'c', type: 'x', depends_on: ['a', 'b', 'a'] });
    join.given(started(), began('a'), done('a')).when(begin('c')).thenNothing();
    join.given(started(), began('a'), done('a'), began('b'), done('b')).when(begin('c')).then(began('c'));
  });

  test('begins nothing while paused, stopping or ended', () => {
    const two = specification(a, { id: 'b', type: 'x' });
    two.given(started(), changed('running', 'paused')).when(begin()).thenNothing();
    two.given(started(), began('b'), stopRequested()).when(begin()).thenNothing();
    two.given(started(), began('b'), failed('b'), runFailed('b')).when(begin()).thenNothing();
  });

  test('begins a retry when it is due, and not earlier', () => {
    const run = chain.given(started(), began('a'), retrying('a', 4000));
    run.when(begin(), NOW + 3999).thenNothing();
    run.when(begin(), NOW + 4000).then(began('a', 2));
    // A clock that was set back behind the failure does not make it due either: the retry would wait for the same hours again.
    run.when(begin(), NOW - 1).then(began('a', 2));
  });

  test('a retry that became due during a pause begins after the resume', () => {
    const facts = [started(), began('a'), retrying('a', 4000), changed('running', 'paused')];
    chain
      .given(...facts)
      .when(begin(), NOW + 9000)
      .thenNothing();
    chain
      .given(...facts, changed('paused', 'running'))
      .when(begin(), NOW + 9000)
      .then(began('a', 2));
  });

  test('repeats an attempt that was lost in a crash, and does not count it as a failure', () => {
    const run = chain.given(started(), began('a')).when(begin());
    run.then(began('a', 2));
    expect(run.state().steps.get('a')).toMatchObject({ attempt: 2, lost: 1, failures: 0 });
  });

  test(`fails a step that was lost ${MAX_LOST_ATTEMPTS} times`, () => {
    const attempts = Array.from({ length: MAX_LOST_ATTEMPTS }, (_, index) => began('a', index + 1));
    const error = { code: 'attempt_lost_repeatedly', message: 'The process died 5 times while the step was running.' };
    chain
      .given(started(), ...attempts.slice(1))
      .when(begin())
      .then(began('a', MAX_LOST_ATTEMPTS + 1));
    chain
      .given(started(), ...attempts)
      .when(begin())
      .then(failed('a', error, MAX_LOST_ATTEMPTS), skipped('b', 'blocked'), runFailed('a', error));
  });

  describe('counts only the terms of leaders that died', () => {
    const inTerm = (term: number) => ({ type: 'step_started', step: 'a', attempt: term, data: { term } }) as const;
    const deaths = { code: 'attempt_lost_repeatedly', message: 'The process died 5 times while the step was running.' };
    const fails = (attempt: number) =>
      [failed('a', deaths, attempt), skipped('b', 'blocked'), runFailed('a', deaths)] as const;
    const terms = Array.from({ length: MAX_LOST_ATTEMPTS }, (_, index) => index + 1);
    const startIn = (term: number, survived: number[]) => ({
      ...begin(),
      leader: { term, survived: new Set(survived) },
    });
    const next = MAX_LOST_ATTEMPTS + 1;

    test('all of them died', () => {
      chain
        .given(started(), ...terms.map(inTerm))
        .when(startIn(next, []))
        .then(...fails(MAX_LOST_ATTEMPTS));
    });

    test.each(terms)('the leader of term %i survived', term => {
      chain
        .given(started(), ...terms.map(inTerm))
        .when(startIn(next, [term]))
        .then(inTerm(next));
    });

    test('one survived, and one more died', () => {
      chain
        .given(started(), ...terms.map(inTerm), inTerm(next))
        .when(startIn(next + 1, [1]))
        .then(...fails(next));
    });

    test('attempts in logs without terms count', () => {
      const old = terms.map(attempt => began('a', attempt));
      chain
        .given(started(), ...old)
        .when(startIn(next, terms))
        .then(...fails(MAX_LOST_ATTEMPTS));
    });
  });
});

describe('attempt_succeeded', () => {
  test('ends the step and makes its dependents ready', () => {
    const run = chain.given(started(), began('a')).when(succeed('a', 1, { n: 1 }));
    run.then(done('a', { n: 1 }));
    expect([...run.state().ready]).toEqual(['b']);
    expect(run.state().results.get('a')).toEqual({ n: 1 });
  });

  test('the last step completes the run, in the same decision', () => {
    chain
      .given(started(), began('a'), done('a'), began('b'))
      .when(succeed('b'))
      .then(done('b'), changed('running', 'completed'));
  });

  test('ends the step while paused', () => {
    const facts = [started(), began('a'), done('a'), began('b'), changed('running', 'paused')];
    chain
      .given(...facts)
      .when(succeed('b'))
      .then(done('b'), changed('paused', 'completed'));
  });

  test('records its log lines, if any, before its end', () => {
    const run = chain.given(started(), began('a'));
    run.when(succeed('a', 1, null, ['one', 'two'])).then(logged('a', ['one', 'two']), done('a'));
    run.when(succeed('a', 1, null, [])).then(done('a'));
  });
});

describe('attempt_failed', () => {
  test('retries with a doubling delay until retry_count is used up', () => {
    chain.given(started(), began('a')).when(fail('a')).then(retrying('a', 4000));
    chain
      .given(started(), began('a'), retrying('a', 4000), began('a', 2))
      .when(fail('a', 2))
      .then(retrying('a', 8000, 2));
    chain
      .given(started(), began('a'), retrying('a', 4000), began('a', 2), retrying('a', 8000, 2), began('a', 3))
      .when(fail('a', 3))
      .then(failed('a', boom, 3), skipped('b', 'blocked'), runFailed('a'));
  });

  test('an attempt lost in a crash costs no retry', () => {
    chain
      .given(started(), began('a'), began('a', 2), retrying('a', 4000, 2), began('a', 3))
      .when(fail('a', 3))
      .then(retrying('a', 8000, 3));
  });

  test.each([
    [Number.NaN, 4_000],
    [-1, 4_000],
    [Number.POSITIVE_INFINITY, 86_400_000],
    [1e300, 86_400_000],
    [86_400_001, 86_400_000],
    [86_400_000, 86_400_000],
  ])('a service that asks for a retry after %s ms is called again after %s ms', (retryAfterMs, delay) => {
    chain
      .given(started(), began('a'))
      .when(fail('a', 1, { retryAfterMs }))
      .then(retrying('a', delay));
  });

  test('waits between half the delay and all of it, at most 60 s', () => {
    const slow = specification({ ...a, retry_delay_s: 100 });
    slow
      .given(started(), began('a'))
      .when(fail('a', 1, { random: 1 }))
      .then(retrying('a', 60_000));
    slow
      .given(started(), began('a'))
      .when(fail('a', 1, { random: 0 }))
      .then(retrying('a', 30_000));
    chain
      .given(started(), began('a'))
      .when(fail('a', 1, { random: 0.3333 }))
      .then(retrying('a', 2667));
  });

  test('defaults to no retry, and to a delay of one second', () => {
    const once = specification({ id: 'a', type: 'x', retry_count: 1 });
    once.given(started(), began('a')).when(fail('a')).then(retrying('a', 1000));
    const never = specification({ id: 'a', type: 'x' });
    never.given(started(), began('a')).when(fail('a')).then(failed('a'), runFailed('a'));
  });

  test('waits at least as long as the provider asked for', () => {
    chain
      .given(started(), began('a'))
      .when(fail('a', 1, { retryAfterMs: 90_000 }))
      .then(retrying('a', 90_000));
    chain
      .given(started(), began('a'))
      .when(fail('a', 1, { retryAfterMs: 10 }))
      .then(retrying('a', 4000));
  });

  test('fails at once if a retry cannot help', () => {
    chain
      .given(started(), began('a'))
      .when(fail('a', 1, { retryable: false }))
      .then(failed('a'), skipped('b', 'blocked'), runFailed('a'));
  });

  test('schedules the retry while paused', () => {
    chain.given(started(), began('a'), changed('running', 'paused')).when(fail('a')).then(retrying('a', 4000));
  });

  test('keeps its log before its end', () => {
    chain
      .given(started(), began('a'))
      .when(fail('a', 1, { log: ['line'] }))
      .then(logged('a', ['line']), retrying('a', 4000));
  });
});

describe('a failing step fails the run', () => {
  const wide = specification(
    { id: 'bad', type: 'x' },
    { id: 'running', type: 'x' },
    { id: 'retrying', type: 'x', retry_count: 1 },
    { id: 'waiting', type: 'human_task' },
    { id: 'ready', type: 'x' },
    { id: 'ended', type: 'x' },
    { id: 'after_bad', type: 'x', depends_on: ['bad'] },
    { id: 'after_both', type: 'x', depends_on: ['after_bad', 'ended'] },
  );
  const facts = [
    started(),
    ...['bad', 'running', 'retrying', 'waiting', 'ended'].map(id => began(id)),
    retrying('retrying', 1000),
    asked('waiting'),
    done('ended'),
  ];
  const ends = [
    failed('bad'),
    cancelled('running', 'run_failed', 'bad'),
    cancelled('retrying', 'run_failed', 'bad'),
    cancelled('waiting', 'run_failed', 'bad'),
    skipped('ready', 'blocked'),
    skipped('after_bad', 'blocked'),
    skipped('after_both', 'blocked'),
  ];

  test('cancels started steps, skips the others as blocked, and leaves nothing open', () => {
    const run = wide.given(...facts).when(fail('bad'));
    run.then(...ends, runFailed('bad'));
    const state = run.state();
    expect(state).toMatchObject({ status: 'failed', done: 8, endedAt: NOW, error: { ...boom, step_id: 'bad' } });
    for (const index of [state.ready, state.inFlight, state.retrying, state.waiting]) expect(index.size).toBe(0);
    expect(state.steps.get('bad')).toMatchObject({ status: 'failed', failures: 1 });
    expect(state.steps.get('retrying')).toMatchObject({ status: 'cancelled', failures: 1, retryAt: undefined });
    expect(state.steps.get('waiting')).toMatchObject({ status: 'cancelled', task: undefined });
  });

  test('ends the run while paused', () => {
    wide
      .given(...facts, changed('running', 'paused'))
      .when(fail('bad'))
      .then(...ends, runFailed('bad', boom, 'paused'));
  });
});

describe('attempt_waiting', () => {
  const ask: Command = { type: 'attempt_waiting', step: 'a', attempt: 1, task: taskRequest({ due_at: NOW + 5 }) };

  test('assigns the task to people; the step waits without an attempt in flight', () => {
    const run = chain.given(started(), began('a')).when(ask);
    run.then(asked('a', { due_at: NOW + 5 }));
    const state = run.state();
    expect([...state.waiting]).toEqual(['a']);
    expect(state.inFlight.size).toBe(0);
    expect(state.steps.get('a')?.task).toEqual({ dueAt: NOW + 5, onTimeout: 'fail' });
  });

  test('assigns the task while paused', () => {
    chain
      .given(started(), began('a'), changed('running', 'paused'))
      .when(ask)
      .then(asked('a', { due_at: NOW + 5 }));
  });
});

describe('attempt_log', () => {
  const log = (attempt: number, lines: string[]): Command => ({ type: 'attempt_log', step: 'a', attempt, lines });

  test('keeps lines while the attempt runs', () => {
    chain
      .given(started(), began('a'))
      .when(log(1, ['x']))
      .then(logged('a', ['x']));
    chain.given(started(), began('a')).when(log(1, [])).thenNothing();
    chain
      .given(started(), began('a'), done('a'))
      .when(log(1, ['x']))
      .thenNothing();
  });
});

describe('late outcomes change nothing', () => {
  const outcomes = (attempt: number): Command[] => [
    succeed('a', attempt),
    fail('a', attempt),
    { type: 'attempt_waiting', step: 'a', attempt, task: taskRequest() },
    { type: 'attempt_log', step: 'a', attempt, lines: ['x'] },
  ];

  test.each([
    ['of an earlier attempt', 1, [began('a'), began('a', 2)]],
    ['of an attempt that was never begun', 2, [began('a')]],
    ['of a step that waits for its retry', 1, [began('a'), retrying('a', 1000)]],
    ['of a step that waits for a person', 1, [began('a'), asked('a')]],
    ['of a step that has ended', 1, [began('a'), done('a')]],
    ['of a step that was not begun', 0, []],
    [
      'after a stop',
      1,
      [began('a'), cancelled('a', 'RUN_STOPPED'), skipped('b', 'run_stopped'), changed('running', 'stopped')],
    ],
  ])('%s', (_name, attempt, facts) => {
    for (const outcome of outcomes(attempt))
      chain
        .given(started(), ...facts)
        .when(outcome)
        .thenNothing();
  });

  test('for a step that does not exist', () => {
    chain.given(started()).when(succeed('nowhere')).thenNothing();
  });
});
