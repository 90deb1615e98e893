import { describe, expect, test } from 'vitest';
import {
  answered,
  asked,
  began,
  cancelled,
  changed,
  done,
  failed,
  runFailed,
  skipped,
  started,
} from '../../testing/engine/facts.ts';
import { NOW, specification } from '../../testing/engine/specification.ts';
import type { Command, JsonMap } from './index.ts';

const spec = specification({ id: 'task', type: 'human_task' }, { id: 'next', type: 'x', depends_on: ['task'] });
const at = '2026-01-01T00:00:00.000Z';
const waiting = [started(), began('task'), asked('task')];
const complete = (approved: boolean, result: JsonMap = {}, step = 'task'): Command => ({
  type: 'complete_task',
  step,
  approved,
  result,
  by: 'bob',
});

describe('complete_task', () => {
  test.each([true, false])('approved: %s lets the run continue', approved => {
    const run = spec.given(...waiting).when(complete(approved, { note: 'fine' }));
    run.then(
      answered('task', approved, 'bob'),
      done('task', { note: 'fine', approved, completed_by: 'bob', completed_at: at }),
    );
    expect([...run.state().ready]).toEqual(['next']);
  });

  test('the answer cannot forge who approved, whether and when', () => {
    const forged = { approved: true, completed_by: 'the boss', completed_at: 'yesterday', extra: 1 };
    spec
      .given(...waiting)
      .when(complete(false, forged))
      .then(
        answered('task', false, 'bob'),
        done('task', { approved: false, completed_by: 'bob', completed_at: at, extra: 1 }),
      );
  });

  test('is accepted while paused; dependents wait for the resume', () => {
    const run = spec.given(...waiting, changed('running', 'paused')).when(complete(true));
    run.then(answered('task', true, 'bob'), done('task', { approved: true, completed_by: 'bob', completed_at: at }));
    expect(run.state().status).toBe('paused');
  });

  test('can be the end of the run', () => {
    specification({ id: 'task', type: 'human_task' })
      .given(...waiting)
      .when(complete(true))
      .then(
        answered('task', true, 'bob'),
        done('task', { approved: true, completed_by: 'bob', completed_at: at }),
        changed('running', 'completed'),
      );
  });

  test('is refused a second time', () => {
    spec
      .given(...waiting, answered('task', true), done('task'))
      .when(complete(false))
      .thenRefused('task_already_completed');
  });

  test('is refused for a step that does not wait', () => {
    spec.given(started()).when(complete(true)).thenRefused('task_not_pending');
    spec.given(started(), began('task')).when(complete(true)).thenRefused('task_not_pending');
    spec
      .given(...waiting)
      .when(complete(true, {}, 'next'))
      .thenRefused('task_not_pending');
    spec
      .given(...waiting)
      .when(complete(true, {}, 'nowhere'))
      .thenRefused('task_not_pending');
    spec.given(started(), skipped('task', 'step_disabled')).when(complete(true)).thenRefused('task_not_pending');
  });
});

describe('task_timed_out', () => {
  const timedOut: Command = { type: 'task_timed_out', step: 'task' };
  const asking = (on_timeout: 'fail' | 'approve' | 'reject') => [
    started(),
    began('task'),
    asked('task', { due_at: NOW + 1000, on_timeout }),
  ];

  test('fails the step, and with it the run', () => {
    const error = { code: 'task_timed_out', message: 'Nobody completed the task in time.' };
    spec
      .given(...asking('fail'))
      .when(timedOut, NOW + 1000)
      .then(failed('task', error), skipped('next', 'blocked'), runFailed('task', error));
  });

  test.each(['approve', 'reject'] as const)('%ss in nobody’s name', onTimeout => {
    const approved = onTimeout === 'approve';
    spec
      .given(...asking(onTimeout))
      .when(timedOut, NOW + 1000)
      .then(
        answered('task', approved, null),
        done('task', { approved, completed_by: null, completed_at: '2026-01-01T00:00:01.000Z' }),
      );
  });

  test('not before it is due, nor without a limit, nor for a step that does not wait', () => {
    spec
      .given(...asking('fail'))
      .when(timedOut, NOW + 999)
      .thenNothing();
    spec
      .given(...waiting)
      .when(timedOut, NOW + 1e12)
      .thenNothing();
    spec
      .given(started(), began('task'))
      .when(timedOut, NOW + 1e12)
      .thenNothing();
    spec
      .given(...asking('approve'), answered('task', true), done('task'))
      .when(timedOut, NOW + 1000)
      .thenNothing();
    spec
      .given(...asking('fail'))
      .when({ type: 'task_timed_out', step: 'nowhere' }, NOW + 1000)
      .thenNothing();
  });

  test('waits for the resume while paused', () => {
    const paused = [...asking('approve'), changed('running', 'paused')];
    spec
      .given(...paused)
      .when(timedOut, NOW + 1000)
      .thenNothing();
    const run = spec.given(...paused, changed('paused', 'running')).when(timedOut, NOW + 2000);
    expect(run.state().steps.get('task')?.status).toBe('completed');
  });

  test('an answer after it was cancelled is refused', () => {
    const other = specification({ id: 'task', type: 'human_task' }, { id: 'bad', type: 'x' });
    other
      .given(...waiting, began('bad'), failed('bad'), cancelled('task', 'run_failed', 'bad'), runFailed('bad'))
      .when(complete(true))
      .thenRefused('run_already_ended');
  });
});
