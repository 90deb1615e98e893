import { describe, expect, test } from 'vitest';
import {
  asked,
  began,
  boom,
  cancelled,
  changed,
  done,
  failed,
  retrying,
  runFailed,
  skipped,
  started,
  stopRequested,
  taskRequest,
} from '../../testing/engine/facts.ts';
import { specification } from '../../testing/engine/specification.ts';
import type { Command, GraphStep } from './index.ts';

const steps: GraphStep[] = [
  { id: 'work', type: 'x' },
  { id: 'more', type: 'x' },
  { id: 'retry', type: 'x', retry_count: 1 },
  { id: 'task', type: 'human_task' },
  { id: 'next', type: 'x', depends_on: ['work'] },
];
const spec = specification(...steps);
const pause: Command = { type: 'pause', by: 'bob' };
const resume: Command = { type: 'resume', by: 'bob' };
const immediate: Command = { type: 'stop', mode: 'immediate', by: 'bob' };
const graceful: Command = { type: 'stop', mode: 'graceful', by: 'bob' };
const busy = [started(), began('work'), began('retry'), began('task'), retrying('retry', 1000), asked('task')];
const paused = changed('running', 'paused');
const ended = {
  completed: [started(), ...steps.flatMap(({ id }) => [began(id), done(id)]), changed('running', 'completed')],
  failed: [started(), began('work'), failed('work'), runFailed('work')],
  stopped: [started(), changed('running', 'stopped')],
};

describe('pause', () => {
  test('a running run pauses, and says who paused it', () => {
    spec
      .given(...busy)
      .when(pause)
      .then(changed('running', 'paused', 'bob'));
  });

  test('a paused run stays paused', () => {
    spec
      .given(...busy, paused)
      .when(pause)
      .thenNothing();
  });
});

describe('resume', () => {
  test('a paused run resumes', () => {
    const run = spec.given(...busy, paused).when(resume);
    run.then(changed('paused', 'running', 'bob'));
    expect(run.state().status).toBe('running');
  });

  test('a running run stays running', () => {
    spec
      .given(...busy)
      .when(resume)
      .thenNothing();
  });

  test('a failed run does not resume', () => {
    spec
      .given(...ended.failed)
      .when(resume)
      .thenRefused('run_already_ended');
  });
});

describe('stop immediate', () => {
  const ends = [
    cancelled('work', 'RUN_STOPPED'),
    cancelled('retry', 'RUN_STOPPED'),
    cancelled('task', 'RUN_STOPPED'),
    skipped('more', 'run_stopped'),
    skipped('next', 'run_stopped'),
  ];

  test('cancels started steps, and skips the others', () => {
    const run = spec.given(...busy).when(immediate);
    run.then(...ends, changed('running', 'stopped', 'bob'));
    const state = run.state();
    expect(state.done).toBe(5);
    for (const index of [state.ready, state.inFlight, state.retrying, state.waiting]) expect(index.size).toBe(0);
  });

  test('from paused', () => {
    spec
      .given(...busy, paused)
      .when(immediate)
      .then(...ends, changed('paused', 'stopped', 'bob'));
  });

  test('before any step has started', () => {
    spec
      .given(started())
      .when(immediate)
      .then(...steps.map(({ id }) => skipped(id, 'run_stopped')), changed('running', 'stopped', 'bob'));
  });
});

describe('stop graceful', () => {
  const requested = [stopRequested('bob'), cancelled('task', 'RUN_STOPPED'), cancelled('retry', 'RUN_STOPPED')];
  const draining = [...busy, ...requested];
  const rest = [skipped('more', 'run_stopped'), skipped('next', 'run_stopped')];

  test('lets attempts in flight finish, and ends waiting steps at once', () => {
    spec
      .given(...busy)
      .when(graceful)
      .then(...requested);
    spec
      .given(...busy, paused)
      .when(graceful)
      .then(...requested);
  });

  test('is immediate when nothing is in flight', () => {
    const waiting = [started(), began('task'), asked('task')];
    spec
      .given(...waiting)
      .when(graceful)
      .then(
        cancelled('task', 'RUN_STOPPED'),
        ...['work', 'more', 'retry', 'next'].map(id => skipped(id, 'run_stopped')),
        changed('running', 'stopped', 'bob'),
      );
  });

  test('the end of the last attempt stops the run, whatever the outcome', () => {
    const run = spec.given(...draining);
    run
      .when({ type: 'attempt_succeeded', step: 'work', attempt: 1, result: 1 })
      .then(done('work', 1), ...rest, changed('running', 'stopped', 'bob'));
    run
      .when({ type: 'attempt_failed', step: 'work', attempt: 1, error: boom, retryable: true, random: 0 })
      .then(failed('work'), ...rest, changed('running', 'stopped', 'bob'));
    run
      .when({ type: 'attempt_waiting', step: 'work', attempt: 1, task: taskRequest() })
      .then(cancelled('work', 'RUN_STOPPED'), ...rest, changed('running', 'stopped', 'bob'));
    run
      .when({ type: 'abandon_attempt', step: 'work' })
      .then(cancelled('work', 'RUN_STOPPED'), ...rest, changed('running', 'stopped', 'bob'));
  });

  test('from paused, the run stops from paused', () => {
    spec
      .given(...busy, paused, ...requested)
      .when({ type: 'attempt_succeeded', step: 'work', attempt: 1, result: 1 })
      .then(done('work', 1), ...rest, changed('paused', 'stopped', 'bob'));
  });

  test('an attempt that ends while another is in flight only ends its step', () => {
    const two = specification(
      { id: 'work', type: 'x', retry_count: 3 },
      { id: 'other', type: 'x' },
      { id: 'off', type: 'x', disabled: true, depends_on: ['work'] },
    ).given(started(), began('work'), began('other'), stopRequested());
    two.when({ type: 'attempt_succeeded', step: 'work', attempt: 1, result: 1 }).then(done('work', 1));
    two
      .when({ type: 'attempt_failed', step: 'work', attempt: 1, error: boom, retryable: true, random: 0 })
      .then(failed('work'));
    two
      .when({ type: 'attempt_waiting', step: 'work', attempt: 1, task: taskRequest() })
      .then(cancelled('work', 'RUN_STOPPED'));
    two.when({ type: 'abandon_attempt', step: 'work' }).then(cancelled('work', 'RUN_STOPPED'));
  });

  test('a run whose last step ends while the run is being stopped is stopped', () => {
    specification({ id: 'work', type: 'x' })
      .given(started(), began('work'), stopRequested())
      .when({ type: 'attempt_succeeded', step: 'work', attempt: 1, result: 1 })
      .then(done('work', 1), changed('running', 'stopped', 'ann'));
  });

  test('has no effect when repeated', () => {
    spec
      .given(...draining)
      .when(graceful)
      .thenNothing();
  });

  test('an immediate stop ends it at once', () => {
    spec
      .given(...draining)
      .when(immediate)
      .then(cancelled('work', 'RUN_STOPPED'), ...rest, changed('running', 'stopped', 'bob'));
  });

  test('pause, resume and answers are refused during the stop', () => {
    spec
      .given(...draining)
      .when(pause)
      .thenRefused('run_stopping');
    spec
      .given(...draining)
      .when(resume)
      .thenRefused('run_stopping');
    spec
      .given(...draining)
      .when({ type: 'complete_task', step: 'task', approved: true, result: {}, by: 'bob' })
      .thenRefused('task_not_pending');
  });

  test('an attempt is abandoned only while stopping and in flight', () => {
    spec
      .given(...busy)
      .when({ type: 'abandon_attempt', step: 'work' })
      .thenNothing();
    spec
      .given(...draining)
      .when({ type: 'abandon_attempt', step: 'task' })
      .thenNothing();
    spec
      .given(...draining)
      .when({ type: 'abandon_attempt', step: 'more' })
      .thenNothing();
  });
});

describe('a run that has ended takes no commands', () => {
  test.each(Object.entries(ended))('%s', (_status, facts) => {
    const run = spec.given(...facts);
    run.when(pause).thenRefused('run_already_ended');
    run.when(resume).thenRefused('run_already_ended');
    for (const stop of [immediate, graceful]) run.when(stop).thenRefused('run_already_ended');
    run
      .when({ type: 'complete_task', step: 'task', approved: true, result: {}, by: 'bob' })
      .thenRefused('run_already_ended');
    run.when({ type: 'start_attempt', step: 'more' }).thenNothing();
    run.when({ type: 'abandon_attempt', step: 'more' }).thenNothing();
    run.when({ type: 'task_timed_out', step: 'task' }).thenNothing();
  });
});
