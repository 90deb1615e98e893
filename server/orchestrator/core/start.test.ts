import { describe, expect, test } from 'vitest';
import { changed, skipped, startData, started } from '../../testing/engine/facts.ts';
import { NOW, specification } from '../../testing/engine/specification.ts';

describe('start', () => {
  test('writes run_started and starts no step, because the scheduler does', () => {
    specification({ id: 'a', type: 'x' })
      .given()
      .when({ type: 'start', data: startData({ input: { n: 1 } }) })
      .then(started({ input: { n: 1 } }));
  });

  test('gives the run its input, its time and its first steps', () => {
    const data = startData({ input: { n: 1 } });
    const state = specification({ id: 'a', type: 'x' }).given().when({ type: 'start', data }).state();
    expect(state).toMatchObject({
      status: 'running',
      started: data,
      input: { n: 1 },
      startedAt: NOW,
      endedAt: null,
      seq: 1,
    });
    expect([...state.ready]).toEqual(['a']);
  });

  test('a graph without steps completes at once', () => {
    specification().given().when({ type: 'start', data: startData() }).then(started(), changed('running', 'completed'));
  });

  test('skips steps without a reason to run, and completes if these are all steps', () => {
    specification({ id: 'a', type: 'x', disabled: true }, { id: 'b', type: 'x', gated: true, depends_on: ['a'] })
      .given()
      .when({ type: 'start', data: startData() })
      .then(started(), skipped('a', 'step_disabled'), skipped('b', 'out_of_scope'), changed('running', 'completed'));
  });

  test('skips a join once, after the last of its skipped dependencies', () => {
    specification(
      { id: 'a', type: 'x', disabled: true },
      { id: 'b', type: 'x', disabled: true },
      { id: 'join', type: 'x', disabled: true, depends_on: ['a', 'b'] },
      { id: 'work', type: 'x', depends_on: ['join'] },
    )
      .given()
      .when({ type: 'start', data: startData() })
      .then(started(), skipped('a', 'step_disabled'), skipped('b', 'step_disabled'), skipped('join', 'step_disabled'));
  });

  test('is refused a second time', () => {
    specification({ id: 'a', type: 'x' })
      .given(started())
      .when({ type: 'start', data: startData() })
      .thenRefused('run_already_started');
  });

  test('no other command applies to a run that has not started', () => {
    const run = specification({ id: 'a', type: 'x' }).given();
    run.when({ type: 'pause', by: 'ann' }).thenRefused('run_not_started');
    run.when({ type: 'resume', by: 'ann' }).thenRefused('run_not_started');
    run.when({ type: 'stop', mode: 'immediate', by: 'ann' }).thenRefused('run_not_started');
    run
      .when({ type: 'complete_task', step: 'a', approved: true, result: {}, by: 'ann' })
      .thenRefused('run_not_started');
    run.when({ type: 'start_attempt', step: 'a' }).thenNothing();
    run.when({ type: 'attempt_succeeded', step: 'a', attempt: 0, result: null }).thenNothing();
    run.when({ type: 'abandon_attempt', step: 'a' }).thenNothing();
    run.when({ type: 'task_timed_out', step: 'a' }).thenNothing();
  });
});
