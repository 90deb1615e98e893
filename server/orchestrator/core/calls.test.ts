import { beforeEach, expect, test } from 'vitest';
import { boom, startData } from '../../testing/engine/facts.ts';
import {
  type Command,
  compile,
  decide,
  effects,
  evolve,
  type GraphStep,
  MAX_CALL_DEPTH,
  newRun,
  phase,
  type RunEvent,
  type RunStartedData,
  type RunState,
} from './index.ts';

const AT = 1_800_000_000_000;
const call = { run_id: 'child', workflow_id: 'workflow', version: 3, input: { n: 1 } };
const failed = { status: 'failed', error: boom, retryable: true } as const;

let state: RunState;
function decideAndEvolve(command: Command, now = AT): RunEvent[] {
  const events = decide(state, command, now);
  for (const event of events) evolve(state, event);
  return events;
}
function begin(step: Partial<GraphStep> = {}, data: Partial<RunStartedData> = {}): void {
  const after = { id: 'after', type: 'lua_script', depends_on: ['call'] };
  state = newRun('run', compile({ steps: [{ id: 'call', type: 'call_workflow', ...step }, after] }));
  decideAndEvolve({ type: 'start', data: startData(data) });
  decideAndEvolve({ type: 'start_attempt', step: 'call' });
}
const calls = (detach = false) =>
  decideAndEvolve({ type: 'attempt_calling', step: 'call', attempt: 1, call: { ...call, ...(detach && { detach }) } });
const ends = (end: Extract<Command, { type: 'child_ended' }>['end'], run_id = 'child') =>
  decideAndEvolve({ type: 'child_ended', step: 'call', run_id, end, random: 0, credits: 5 });
const status = () => state.steps.get('call')?.status;
const typesOf = (events: readonly RunEvent[]) => events.map(({ type }) => type);

beforeEach(() => begin());

test('a step that calls a run holds no attempt, and may begin again when the run has completed', () => {
  expect(calls()).toMatchObject([{ type: 'child_called', attempt: 1, data: call }]);
  expect([...effects(state).inFlight, ...effects(state).ready, ...effects(state).timers]).toEqual([]);
  expect(phase(state)).toBe('executing');
  expect(ends({ status: 'completed' }, 'another run')).toEqual([]);
  expect(typesOf(ends({ status: 'completed' }))).toEqual(['child_ended']);
  expect(ends({ status: 'completed' })).toEqual([]);
  expect([...effects(state).ready]).toEqual(['call']);
  decideAndEvolve({ type: 'start_attempt', step: 'call' });
  expect(state.steps.get('call')).toMatchObject({ attempt: 2, call: { runId: 'child', ended: 'completed' } });
  decideAndEvolve({ type: 'attempt_succeeded', step: 'call', attempt: 2, result: 7 });
  expect([...effects(state).ready]).toEqual(['after']);
  expect(state.abandoned).toBe(null);
});

test('if the run fails, the step fails or is retried with another run', () => {
  calls();
  expect(ends(failed)).toMatchObject([
    { type: 'child_ended', data: { run_id: 'child', status: 'failed' } },
    { type: 'step_failed', data: { error: boom, credits: 5 } },
    { type: 'step_completed', step: 'after' },
    { type: 'state_changed', data: { to: 'failed' } },
  ]);
  begin({ retry_count: 1 });
  calls();
  expect(typesOf(ends(failed))).toEqual(['child_ended', 'step_retrying']);
  expect(state.steps.get('call')?.call).toBe(undefined);
  expect(state.abandoned).toBe(null);
});

test('a completed run is not called again if reading its output fails', () => {
  begin({ retry_count: 1 });
  calls();
  ends({ status: 'completed' });
  decideAndEvolve({ type: 'start_attempt', step: 'call' });
  decideAndEvolve({ type: 'attempt_failed', step: 'call', attempt: 2, error: boom, retryable: true, random: 0 });
  expect(state.steps.get('call')).toMatchObject({ status: 'retrying', call: { runId: 'child', ended: 'completed' } });
});

test('a run that no step waits for any more is to be stopped', () => {
  begin({ timeout_s: 60 });
  calls();
  expect([...effects(state).timers]).toEqual([{ step: 'call', kind: 'call', dueAt: AT + 60_000 }]);
  expect(decideAndEvolve({ type: 'call_timed_out', step: 'call', random: 0 }, AT + 59_999)).toEqual([]);
  expect(decideAndEvolve({ type: 'call_timed_out', step: 'call', random: 0 }, AT + 60_000)).toMatchObject([
    { type: 'step_failed', data: { error: { code: 'step_timed_out' } } },
    {},
    {},
  ]);
  expect([...(state.abandoned ?? [])]).toEqual(['child']);
  expect(ends({ status: 'completed' })).toEqual([]);
});

test('an immediate stop abandons the run, a graceful one waits for its end', () => {
  calls();
  decideAndEvolve({ type: 'stop', mode: 'immediate', by: 'ann' });
  expect([...(state.abandoned ?? [])]).toEqual(['child']);
  begin();
  calls();
  expect(typesOf(decideAndEvolve({ type: 'stop', mode: 'graceful', by: 'ann' }))).toEqual(['stop_requested']);
  expect(phase(state)).toBe('draining');
  expect(typesOf(ends({ status: 'stopped', error: boom, retryable: false }))).toEqual([
    'child_ended',
    'step_cancelled',
    'step_completed',
    'state_changed',
  ]);
  expect(state.abandoned).toBe(null);
});

test('a paused run records the end, and continues when it is resumed', () => {
  calls();
  decideAndEvolve({ type: 'pause', by: 'ann' });
  expect(phase(state)).toBe('paused');
  expect(typesOf(ends({ status: 'completed' }))).toEqual(['child_ended']);
  expect([...effects(state).ready]).toEqual([]);
  decideAndEvolve({ type: 'resume', by: 'ann' });
  expect([...effects(state).ready]).toEqual(['call']);
});

test('a step that does not wait ends once the run has started', () => {
  calls(true);
  expect(decideAndEvolve({ type: 'child_started', step: 'call', run_id: 'child' })).toMatchObject([
    { type: 'step_completed', data: { result: { run_id: 'child' } } },
  ]);
  begin();
  calls();
  expect(decideAndEvolve({ type: 'child_started', step: 'call', run_id: 'child' })).toEqual([]);
});

test('a run that is being stopped calls no run, and neither does one at the maximum depth of calls', () => {
  const parent = { run_id: 'p', workflow_id: 'w', step_id: 's', depth: MAX_CALL_DEPTH - 1 };
  begin({}, { parent });
  expect(typesOf(calls())).toEqual(['child_called']);
  begin({}, { parent: { ...parent, depth: MAX_CALL_DEPTH } });
  expect(calls()[0]).toMatchObject({ type: 'step_failed', data: { error: { code: 'calls_too_deep' } } });
  begin();
  decideAndEvolve({ type: 'stop', mode: 'graceful', by: 'ann' });
  expect(typesOf(calls())).toContain('step_cancelled');
});

test('the input is held until the run has ended', () => {
  const before = state.bytes;
  calls();
  expect(state.bytes).toBeGreaterThan(before);
  ends({ status: 'completed' });
  expect(state.bytes).toBe(before);
  expect(status()).toBe('ready');
});
