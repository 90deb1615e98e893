import { describe, expect, it } from 'vitest';
import type { RunRow } from '../store.ts';
import { applyEvent, isExpanded, isTerminal, newRunState, stateOf, type WireEvent } from './run-state.ts';
import { toSnapshot } from './snapshot.ts';

const runId = '01900000-0000-7000-8000-000000000001';
let seq = 0;
function event(event_type: string, fields: Partial<WireEvent> = {}): WireEvent {
  seq += 1;
  return {
    seq,
    event_type,
    run_id: runId,
    workflow_id: runId,
    data: {},
    created_at: new Date(Date.UTC(2026, 0, 1) + seq * 1000).toISOString(),
    ...fields,
  };
}
function fold(...events: WireEvent[]) {
  const view = newRunState(['a', 'b']);
  for (const each of events) applyEvent(view, each);
  return view;
}

const row: RunRow = {
  id: runId,
  project_id: runId,
  workflow_id: runId,
  workflow_name: 'Under test',
  version: 1,
  status: 'running',
  orchestration_phase: 'executing',
  session_id: runId,
  trigger_type: 'api',
  started_by: 'ann@example.com',
  started_at: new Date(Date.UTC(2026, 0, 1)),
  ended_at: null,
  error: null,
  steps_total: 2,
  steps_done: 0,
  steps_skipped: 0,
  pending_tasks: 0,
  credits_microcredits: '0',
  last_seq: 0,
  rerun_of: null,
};

describe('the fold behind a run page', () => {
  it('shows a loop as running until its steps have ended, and keeps only the steps that have not ended', () => {
    seq = 0;
    const view = fold(
      event('step_started', { step_id: 'a', attempt: 1 }),
      event('step_expanded', { step_id: 'a', attempt: 1 }),
      event('steps_added', { step_id: 'a', attempt: 1, data: { parent: 'a', steps: [] } }),
      event('step_started', { step_id: 'a.0.x', attempt: 1 }),
      event('step_started', { step_id: 'a.1.x', attempt: 1 }),
      event('step_completed', { step_id: 'a.0.x', attempt: 1, data: { result: 1, credits: 5 } }),
    );
    expect([...view.steps.keys()]).toEqual(['a', 'b', 'a.1.x']);
    const loop = view.steps.get('a');
    expect(loop && isExpanded(loop)).toBe(true);
    expect(view.credits).toBe(5);
    applyEvent(view, event('step_started', { step_id: 'a', attempt: 2 }));
    expect(loop && isExpanded(loop)).toBe(false);
  });

  it('follows a step through a failed attempt, a retry and its success', () => {
    seq = 0;
    const view = fold(
      event('run_started', { data: { input: { n: 1 } } }),
      event('step_started', { step_id: 'a', attempt: 1 }),
      event('step_retrying', {
        step_id: 'a',
        attempt: 1,
        data: { attempt: 1, error: { code: 'x', message: 'no' }, delay_ms: 5 },
      }),
      event('step_started', { step_id: 'a', attempt: 2 }),
      event('step_completed', { step_id: 'a', attempt: 2, data: { result: { ok: true } } }),
    );
    const a = view.steps.get('a');
    expect(a?.attempts.map(each => each.outcome)).toEqual(['failed', 'completed']);
    expect(a).toMatchObject({ status: 'completed', error: null, taskName: null });
    expect(view.status).toBe('running');
  });

  it('shows an attempt as lost if a second one starts before the first has ended', () => {
    seq = 0;
    const view = fold(
      event('step_started', { step_id: 'a', attempt: 1 }),
      event('step_started', { step_id: 'a', attempt: 2 }),
    );
    expect(view.steps.get('a')?.attempts.map(each => each.outcome)).toEqual(['lost', 'running']);
  });

  it('adds up what each attempt, step and the run were charged', () => {
    seq = 0;
    const retrying = { attempt: 1, error: { code: 'x', message: 'no' }, delay_ms: 5, credits: 1_000 };
    const last = event('step_failed', { step_id: 'b', data: { error: { code: 'y', message: 'no' }, credits: 30 } });
    seq = 0;
    const view = fold(
      event('step_started', { step_id: 'a', attempt: 1 }),
      event('step_retrying', { step_id: 'a', attempt: 1, data: retrying }),
      event('step_started', { step_id: 'a', attempt: 2 }),
      event('step_completed', { step_id: 'a', attempt: 2, data: { result: {}, credits: 2_500 } }),
      event('step_started', { step_id: 'b', attempt: 1 }),
      { ...last, seq: 6 },
      { ...last, seq: 6 },
    );
    expect(view.steps.get('a')?.attempts.map(each => each.credits)).toEqual([1_000, 2_500]);
    expect(['a', 'b'].map(id => view.steps.get(id)?.credits)).toEqual([3_500, 30]);
    expect(view.credits).toBe(3_530);
  });

  it('shows why the engine paused the run, until it continues', () => {
    seq = 0;
    const view = fold(
      event('run_started'),
      event('state_changed', {
        data: { from: 'running', to: 'paused', by: 'credits', reason: 'insufficient_credits' },
      }),
    );
    expect(view.pauseReason).toBe('insufficient_credits');
    applyEvent(view, event('state_changed', { data: { from: 'paused', to: 'running', by: 'someone' } }));
    expect(view.pauseReason).toBeNull();
  });

  it('ignores events that were applied before, as after a reconnect', () => {
    seq = 0;
    const first = event('step_started', { step_id: 'a', attempt: 1 });
    const view = fold(first);
    expect(applyEvent(view, first)).toBe(false);
    expect(view.steps.get('a')?.attempts).toHaveLength(1);
  });

  it('keeps the error and the end of a failed run, with the blocked steps', () => {
    seq = 0;
    const view = fold(
      event('run_started'),
      event('step_started', { step_id: 'a', attempt: 1 }),
      event('step_failed', { step_id: 'a', attempt: 1, data: { error: { code: 'lua_error', message: 'boom' } } }),
      event('step_completed', { step_id: 'b', data: { skipped: true, reason: 'blocked' } }),
      event('state_changed', {
        data: { from: 'running', to: 'failed', error: { code: 'lua_error', message: 'boom', step_id: 'a' } },
      }),
    );
    expect(isTerminal(view.status)).toBe(true);
    expect(view.error?.step_id).toBe('a');
    expect(view.endedAt).not.toBeNull();
    const outcomes = [...view.steps.values()].map(({ status, skipReason }) => [status, skipReason]);
    expect(outcomes).toEqual([
      ['failed', null],
      ['skipped', 'blocked'],
    ]);
  });

  it('shows a human task as waiting until it is answered', () => {
    seq = 0;
    const view = fold(
      event('step_started', { step_id: 'a', attempt: 1 }),
      event('task_pending', { step_id: 'a', attempt: 1, data: { name: 'Look', due_at: null } }),
    );
    expect(view.steps.get('a')).toMatchObject({ status: 'waiting', taskName: 'Look' });
    applyEvent(view, event('task_completed', { step_id: 'a', attempt: 1, data: { approved: true } }));
    applyEvent(view, event('step_completed', { step_id: 'a', attempt: 1, data: { result: { approved: true } } }));
    expect(view.steps.get('a')).toMatchObject({ status: 'completed', taskName: 'Look' });
  });

  it('shows a step that may have happened as waiting until a person decides, and then with the result of the decision', () => {
    seq = 0;
    const of = { step_id: 'a', attempt: 2 };
    const view = fold(
      event('step_started', { step_id: 'a', attempt: 1 }),
      event('step_started', of),
      event('task_pending', { ...of, data: { name: 'a: this may have happened', due_at: null, in_doubt: true } }),
    );
    expect(view.steps.get('a')?.status).toBe('waiting');
    applyEvent(view, event('task_completed', { ...of, data: { approved: true, decision: 'repeat' } }));
    expect(view.steps.get('a')).toMatchObject({ status: 'ready', taskName: null });
    applyEvent(view, event('step_started', { step_id: 'a', attempt: 3 }));
    expect(view.steps.get('a')?.attempts.map(({ outcome }) => outcome)).toEqual(['lost', 'completed', 'running']);
    applyEvent(view, event('task_completed', { ...of, attempt: 3, data: { approved: false, decision: 'skip' } }));
    applyEvent(view, event('step_completed', { ...of, attempt: 3, data: { skipped: true, reason: 'not_repeated' } }));
    expect(view.steps.get('a')).toMatchObject({ status: 'skipped', skipReason: 'not_repeated' });
    expect(view.steps.get('a')?.attempts.at(-1)?.endedAt).not.toBeNull();
  });

  it('ignores unknown types of events', () => {
    seq = 0;
    expect(() => fold(event('something_new'), event('something_new', { step_id: 'z' }))).not.toThrow();
  });

  it('continues from a snapshot, taken after any event, as from the log', () => {
    seq = 0;
    const error = { code: 'lua_error', message: 'boom' };
    const events = [
      event('run_started'),
      event('step_started', { step_id: 'a', attempt: 1 }),
      event('step_retrying', { step_id: 'a', attempt: 1, data: { attempt: 1, error, delay_ms: 5, credits: 7 } }),
      event('state_changed', { data: { from: 'running', to: 'paused', reason: 'insufficient_credits' } }),
      event('state_changed', { data: { from: 'paused', to: 'running' } }),
      event('step_started', { step_id: 'a', attempt: 2 }),
      event('step_completed', { step_id: 'a', attempt: 2, data: { result: 1, credits: 7 } }),
      event('step_started', { step_id: 'b', attempt: 1 }),
      event('task_pending', { step_id: 'b', attempt: 1, data: { name: 'Look' } }),
      event('stop_requested', { data: { mode: 'graceful' } }),
      event('step_cancelled', { step_id: 'b', attempt: 1, data: { cancelled: true, reason: 'RUN_STOPPED' } }),
      event('state_changed', { data: { from: 'running', to: 'failed', error: { ...error, step_id: 'a' } } }),
    ];
    const whole = fold(...events);
    for (let seen = 1; seen <= events.length; seen += 1) {
      const part = fold(...events.slice(0, seen));
      const continued = stateOf(
        toSnapshot(
          { ...row, parent: null, failure_handler: null, failed_run: null, original: null, reruns: [] },
          part,
          seen,
        ),
        ['a', 'b'],
      );
      for (const each of events) applyEvent(continued, each);
      expect(continued).toEqual(whole);
    }
  });
});
