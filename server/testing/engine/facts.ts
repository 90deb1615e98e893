import type {
  CancelReason,
  JsonValue,
  RunStartedData,
  RunStatus,
  SkipReason,
  TaskRequest,
} from '../../orchestrator/core/index.ts';
import type { Fact } from './specification.ts';

/** Returns the data of `run_started`, with defaults for tests. */
export const startData = (over: Partial<RunStartedData> = {}): RunStartedData => ({
  version: 1,
  input: {},
  mode: 'normal',
  trigger_type: 'manual',
  trigger_steps: {},
  seed_results: {},
  session_id: 'session',
  started_by: 'ann',
  branch_rule: 'edges',
  ...over,
});

/** Returns an episode of the named steps. */
export const episode = (named: string[], seeds: Record<string, JsonValue> = {}): RunStartedData =>
  startData({ mode: 'episode', trigger_steps: Object.fromEntries(named.map(id => [id, {}])), seed_results: seeds });

export const taskRequest = (over: Partial<TaskRequest> = {}): TaskRequest => ({
  name: 'Approve',
  instructions: '',
  form: null,
  assignees: [],
  due_at: null,
  on_timeout: 'fail',
  ...over,
});

export const boom = { code: 'boom', message: 'It broke.' };

export const started = (over: Partial<RunStartedData> = {}): Fact => ({ type: 'run_started', data: startData(over) });
export const changed = (from: RunStatus, to: RunStatus, by?: string): Fact => ({
  type: 'state_changed',
  data: by === undefined ? { from, to } : { from, to, by },
});
export const runFailed = (step: string, error = boom, from: RunStatus = 'running'): Fact => ({
  type: 'state_changed',
  data: { from, to: 'failed', error: { ...error, step_id: step } },
});
export const stopRequested = (by = 'ann'): Fact => ({ type: 'stop_requested', data: { mode: 'graceful', by } });
export const began = (step: string, attempt = 1): Fact => ({ type: 'step_started', step, attempt, data: {} });
export const done = (step: string, result: JsonValue = null, attempt = 1): Fact => ({
  type: 'step_completed',
  step,
  attempt,
  data: { result },
});
export const skipped = (step: string, reason: SkipReason): Fact => ({
  type: 'step_completed',
  step,
  data: { skipped: true, reason },
});
export const failed = (step: string, error = boom, attempt = 1): Fact => ({
  type: 'step_failed',
  step,
  attempt,
  data: { error },
});
export const cancelled = (step: string, reason: CancelReason, causedBy?: string, attempt = 1): Fact => ({
  type: 'step_cancelled',
  step,
  attempt,
  data: { cancelled: true, reason, ...(causedBy === undefined ? {} : { caused_by_step_id: causedBy }) },
});
export const retrying = (step: string, delayMs: number, attempt = 1, error = boom): Fact => ({
  type: 'step_retrying',
  step,
  attempt,
  data: { attempt, error, delay_ms: delayMs },
});
export const logged = (step: string, lines: string[], attempt = 1): Fact => ({
  type: 'step_log',
  step,
  attempt,
  data: { lines },
});
export const asked = (step: string, over: Partial<TaskRequest> = {}, attempt = 1): Fact => ({
  type: 'task_pending',
  step,
  attempt,
  data: taskRequest(over),
});
export const answered = (step: string, approved: boolean, by: string | null = 'ann', attempt = 1): Fact => ({
  type: 'task_completed',
  step,
  attempt,
  data: { approved, completed_by: by, ...(by === null ? { timed_out: true } : {}) },
});
