import type { z } from 'zod';
import type { RunStatus } from '@/server/orchestrator/core/events.ts';
import type { RunEventSchema } from '../../server/domains/runs/schemas.ts';

/** An event as the API and the stream send it. */
export type WireEvent = z.output<typeof RunEventSchema>;
export type StepStatus =
  | 'pending'
  | 'ready'
  | 'running'
  | 'retrying'
  | 'waiting'
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'skipped';
export type StepError = { code: string; message: string };
export type PayloadRef = { payload_id: string; bytes: number };

/** One attempt; times are ms since the epoch. `lost`: no end was recorded (the process died), another attempt followed. */
export type AttemptView = {
  attempt: number;
  startedAt: number;
  endedAt: number | null;
  outcome: 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'lost';
  error: StepError | null;
  /** Microcredits that it was charged. */
  credits: number;
};

export type StepView = {
  id: string;
  status: StepStatus;
  attempts: AttemptView[];
  skipReason: string | null;
  error: StepError | null;
  result: unknown;
  resultRef: PayloadRef | null;
  logs: string[];
  task: { name: string; instructions: string; dueAt: string | null } | null;
  endedAt: number | null;
  /** Microcredits of all its attempts. */
  credits: number;
};

/**
 * The state of a run's page: the fold of its events. `applyEvent` changes it in place, so that 10,000 events stay
 * cheap.
 */
export type RunView = {
  status: RunStatus | null;
  steps: Map<string, StepView>;
  events: WireEvent[];
  lastSeq: number;
  input: unknown;
  inputRef: PayloadRef | null;
  stopping: boolean;
  /** The engine's reason for pausing the run, as a code; null if a person paused it, or if it is not paused. */
  pauseReason: string | null;
  /** Microcredits of all attempts. */
  credits: number;
  error: { code: string; message: string; step_id: string } | null;
  startedAt: number | null;
  endedAt: number | null;
  rejected: { code: string; message: string } | null;
};

const terminal: ReadonlySet<string> = new Set(['completed', 'failed', 'stopped']);
export const isTerminal = (status: RunStatus | null): boolean => status !== null && terminal.has(status);

/** A run of which nothing is known yet; every step is pending. */
export function newRunView(stepIds: readonly string[]): RunView {
  const view: RunView = {
    status: null,
    steps: new Map(),
    events: [],
    lastSeq: 0,
    input: undefined,
    inputRef: null,
    stopping: false,
    pauseReason: null,
    credits: 0,
    error: null,
    startedAt: null,
    endedAt: null,
    rejected: null,
  };
  for (const id of stepIds) stepOf(view, id);
  return view;
}

function stepOf(view: RunView, id: string): StepView {
  let step = view.steps.get(id);
  if (!step) {
    step = {
      id,
      status: 'pending',
      attempts: [],
      skipReason: null,
      error: null,
      result: undefined,
      resultRef: null,
      logs: [],
      task: null,
      endedAt: null,
      credits: 0,
    };
    view.steps.set(id, step);
  }
  return step;
}

/**
 * Folds one event into the view. Events that were seen already (a replay after a reconnect) change nothing.
 * Returns whether anything changed.
 */
export function applyEvent(view: RunView, event: WireEvent): boolean {
  if (event.seq <= view.lastSeq) return false;
  view.lastSeq = event.seq;
  view.events.push(event);
  const at = Date.parse(event.created_at);
  if (event.step_id !== undefined) {
    const step = stepOf(view, event.step_id);
    const credits = typeof event.data.credits === 'number' ? event.data.credits : 0;
    view.credits += credits;
    step.credits += credits;
    applyStepEvent(step, event, at, credits);
  } else applyRunEvent(view, event, at);
  return true;
}

function applyRunEvent(view: RunView, event: WireEvent, at: number): void {
  const data = event.data;
  switch (event.event_type) {
    case 'run_started':
      view.status = 'running';
      view.startedAt = at;
      view.input = data.input;
      view.inputRef = (data.input_ref as PayloadRef | undefined) ?? null;
      return;
    case 'run_rejected':
      view.rejected = { code: String(data.code ?? 'rejected'), message: String(data.message ?? '') };
      return;
    case 'stop_requested':
      view.stopping = true;
      return;
    case 'state_changed':
      view.status = data.to as RunStatus;
      view.pauseReason = view.status === 'paused' && typeof data.reason === 'string' ? data.reason : null;
      view.error = (data.error as RunView['error'] | undefined) ?? view.error;
      if (isTerminal(view.status)) view.endedAt = at;
      return;
    default:
      return; // a newer server may know more kinds of events
  }
}

function applyStepEvent(step: StepView, event: WireEvent, at: number, credits: number): void {
  const data = event.data;
  switch (event.event_type) {
    case 'step_started': {
      endAttempt(step, { at, outcome: 'lost' });
      step.attempts.push({
        attempt: event.attempt ?? step.attempts.length + 1,
        startedAt: at,
        endedAt: null,
        outcome: 'running',
        error: null,
        credits: 0,
      });
      step.status = 'running';
      return;
    }
    case 'step_completed':
      step.endedAt = at;
      if (data.skipped === true) {
        step.status = 'skipped';
        step.skipReason = String(data.reason);
        return;
      }
      step.status = 'completed';
      step.error = null;
      step.result = data.result;
      step.resultRef = (data.result_ref as PayloadRef | undefined) ?? null;
      endAttempt(step, { at, outcome: 'completed', credits });
      return;
    case 'step_failed':
    case 'step_retrying': {
      const error = (data.error as StepError | undefined) ?? { code: 'unknown', message: '' };
      const failed = event.event_type === 'step_failed';
      step.status = failed ? 'failed' : 'retrying';
      step.error = error;
      if (failed) step.endedAt = at;
      endAttempt(step, { at, outcome: 'failed', error, credits });
      return;
    }
    case 'step_cancelled':
      step.status = 'cancelled';
      step.skipReason = String(data.reason ?? '');
      step.endedAt = at;
      endAttempt(step, { at, outcome: 'cancelled' });
      return;
    case 'task_pending': {
      step.status = 'waiting';
      const current = step.attempts.at(-1);
      if (current) current.outcome = 'waiting';
      step.task = {
        name: String(data.name ?? ''),
        instructions: String(data.instructions ?? ''),
        dueAt: (data.due_at as string | null | undefined) ?? null,
      };
      return;
    }
    case 'step_log':
      if (Array.isArray(data.lines)) for (const line of data.lines) step.logs.push(String(line));
      return;
    default:
      return; // task_completed: the step_completed beside it says the same
  }
}

type End = { at: number; outcome: AttemptView['outcome']; error?: StepError; credits?: number };

function endAttempt(step: StepView, { at, outcome, error, credits }: End): void {
  const current = step.attempts.at(-1);
  if (!current || current.endedAt !== null) return;
  current.endedAt = at;
  current.outcome = outcome;
  current.error = error ?? null;
  current.credits = credits ?? 0;
}

const skipLabels: Record<string, string> = {
  blocked: 'Skipped (Blocked)',
  out_of_scope: 'Skipped (Out of scope)',
  step_disabled: 'Skipped (Disabled)',
  branch_not_taken: 'Skipped (Branch not taken)',
  run_stopped: 'Skipped (Run stopped)',
};

/** The outcome in the words of docs/specification/events.md#step-outcomes. */
export function stepOutcomeLabel(step: StepView): string {
  switch (step.status) {
    case 'pending':
      return 'Not started';
    case 'ready':
      return 'Queued';
    case 'running':
      return 'Running';
    case 'retrying':
      return 'Waiting to retry';
    case 'waiting':
      return 'Waiting for a person';
    case 'completed':
      return 'Success';
    case 'failed':
      return 'Failed';
    case 'cancelled':
      return 'Cancelled';
    case 'skipped':
      return skipLabels[step.skipReason ?? ''] ?? 'Skipped';
  }
}
