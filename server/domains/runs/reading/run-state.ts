import type { z } from 'zod';
import type { RunStatus } from '../../../orchestrator/core/events.ts';
import { addedId, agentStepType } from '../../../orchestrator/core/step-ids.ts';
import type { Json } from '../../../platform/json.ts';
import type { RunEventSchema } from '../events/schemas.ts';
import type { StepStatusSchema } from '../schemas.ts';
import type { RunSnapshot, StepSnapshot } from './schemas.ts';

/** An event as the API and the stream send it. */
export type WireEvent = z.output<typeof RunEventSchema>;
/** The parts of an event that the state depends on, without the values that the run processes. */
export type FoldedEvent = Pick<WireEvent, 'seq' | 'event_type' | 'step_id' | 'attempt' | 'data' | 'created_at'>;
export type StepStatus = z.output<typeof StepStatusSchema>;
export type StepError = { code: string; message: string; details?: Json };
export type Snapshot = z.output<typeof RunSnapshot>;
type StepOfSnapshot = z.output<typeof StepSnapshot>;

/**
 * One attempt; times are ms since the epoch. `lost`: the process died before it recorded the end, and another attempt
 * followed.
 */
export type AttemptState = {
  attempt: number;
  startedAt: number;
  endedAt: number | null;
  outcome: 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'lost';
  error: StepError | null;
  /** Microcredits charged for the attempt. */
  credits: number;
};

export type StepState = {
  id: string;
  status: StepStatus;
  attempts: AttemptState[];
  skipReason: string | null;
  error: StepError | null;
  /** Whether the step failed and its dependents run nevertheless. */
  continues: boolean;
  /** Whether the step was not executed because the start gave its result. */
  reused: boolean;
  /** When the wait of the step, or the pause before its next attempt, ends; null if neither has an end time. */
  dueAt: number | null;
  /** The name of the human task, or of the task that asks whether to repeat the step; null if the step has no task. */
  taskName: string | null;
  endedAt: number | null;
  /** Microcredits charged for all attempts of the step. */
  credits: number;
  /** The last run that the step called; null if it called none. */
  childRun: { run_id: string; workflow_id: string } | null;
  /** The facts about a step that an agent added; null for any other step. */
  ofAgent: AgentStepFacts | null;
};
/** A step that an agent added, as the agent described it. */
export type AgentStepFacts = {
  type: string;
  /** The tool of a call or an approval. */
  tool: string | null;
  /** The limit because of which a turn is the last one. */
  closing: string | null;
  dependsOn: readonly string[];
};

/**
 * The state of a run and its steps: the fold of its events. `applyEvent` changes it in place, so that 10,000 events stay
 * cheap. The server folds the log into a snapshot, and the console continues from there with the events of the stream.
 */
export type RunState = {
  status: RunStatus | null;
  steps: Map<string, StepState>;
  lastSeq: number;
  stopping: boolean;
  /** The engine's reason for pausing the run, as a code; null if a person paused it, or if it is not paused. */
  pauseReason: string | null;
  /** Microcredits charged for all attempts. */
  credits: number;
  error: { code: string; message: string; step_id: string } | null;
  endedAt: number | null;
};

const terminal: ReadonlySet<string> = new Set(['completed', 'failed', 'stopped']);

/** Returns whether a run with this status has ended. */
export const isTerminal = (status: RunStatus | null): boolean => status !== null && terminal.has(status);

/** Returns the state of a run without any events; every step is pending. */
export function newRunState(stepIds: readonly string[]): RunState {
  const state: RunState = {
    status: null,
    steps: new Map(),
    lastSeq: 0,
    stopping: false,
    pauseReason: null,
    credits: 0,
    error: null,
    endedAt: null,
  };
  for (const id of stepIds) stepOf(state, id);
  return state;
}

function stepOf(state: RunState, id: string): StepState {
  let step = state.steps.get(id);
  if (!step) {
    step = {
      id,
      status: 'pending',
      attempts: [],
      skipReason: null,
      error: null,
      continues: false,
      reused: false,
      dueAt: null,
      taskName: null,
      endedAt: null,
      credits: 0,
      childRun: null,
      ofAgent: isAgentStep(id) ? factsOf({ id }) : null,
    };
    state.steps.set(id, step);
  }
  return step;
}

/** Returns whether a loop or an agent added the step to the run (docs/specification/events.md#added-steps). */
export function isAddedStep(id: string): boolean {
  return id.includes('.');
}

/** Returns whether an agent added the step as a turn, a call or an approval; false for agents in loops. */
export function isAgentStep(id: string): boolean {
  if (!isAddedStep(id) || agentStepType(id) === null) return false;
  const parent = addedId(id)?.parent;
  return parent !== undefined && !isAddedStep(parent);
}

/** Returns whether the steps that a step added stand for it: it starts no further attempt until they have ended. */
export function isExpanded({ status, attempts }: StepState): boolean {
  return status === 'running' && attempts.length > 0 && attempts.at(-1)?.endedAt !== null;
}

/**
 * Folds one event into the state, and returns whether anything changed. Events that were already applied (a replay
 * after a reconnect) change nothing.
 */
export function applyEvent(state: RunState, event: FoldedEvent): boolean {
  if (event.seq <= state.lastSeq) return false;
  state.lastSeq = event.seq;
  const at = Date.parse(event.created_at);
  if (event.step_id !== undefined) {
    const step = stepOf(state, event.step_id);
    const credits = typeof event.data.credits === 'number' ? event.data.credits : 0;
    state.credits += credits;
    step.credits += credits;
    applyStepEvent(step, event, at, credits);
    if (event.event_type === 'steps_added') addAgentSteps(state, event.data.steps);
    // A loop adds up to 100,000 steps; its result contains the ended ones. The steps of an agent are kept as the record
    // of its work.
    if (step.endedAt !== null && isAddedStep(step.id) && !isAgentStep(step.id)) state.steps.delete(step.id);
  } else applyRunEvent(state, event, at);
  return true;
}

/** Folds the events of steps that loops added, and keeps the steps that have ended. */
export function foldSteps(events: readonly FoldedEvent[]): Map<string, StepState> {
  const state = newRunState([]);
  for (const event of events) {
    const at = Date.parse(event.created_at);
    if (event.step_id === undefined) continue;
    const credits = typeof event.data.credits === 'number' ? event.data.credits : 0;
    const step = stepOf(state, event.step_id);
    step.credits += credits;
    applyStepEvent(step, event, at, credits);
  }
  return state.steps;
}

type Added = { id: string; type?: string; depends_on?: string[]; fields?: { tool?: unknown; closing?: unknown } };

/**
 * Adds the steps that an agent announces before they start. The steps of a loop are not added: there may be 100,000.
 */
function addAgentSteps(state: RunState, steps: unknown): void {
  if (!Array.isArray(steps)) return;
  for (const added of steps as Added[]) {
    if (!isAgentStep(added.id)) return;
    stepOf(state, added.id).ofAgent = factsOf(added);
  }
}

function factsOf({ id, type, depends_on = [], fields = {} }: Added): AgentStepFacts {
  const { tool, closing } = fields;
  return {
    type: type ?? agentStepType(id) ?? '',
    tool: typeof tool === 'string' ? tool : null,
    closing: typeof closing === 'string' ? closing : null,
    dependsOn: depends_on,
  };
}

function applyRunEvent(state: RunState, event: FoldedEvent, at: number): void {
  const data = event.data;
  switch (event.event_type) {
    case 'run_started':
      state.status = 'running';
      for (const id of givenAtStart(data)) stepOf(state, id).reused = true;
      return;
    case 'stop_requested':
      state.stopping = true;
      return;
    case 'state_changed':
      state.status = data.to as RunStatus;
      state.pauseReason = state.status === 'paused' && typeof data.reason === 'string' ? data.reason : null;
      state.error = (data.error as RunState['error'] | null | undefined) ?? state.error;
      if (isTerminal(state.status)) state.endedAt = at;
      return;
    default:
      return; // a newer server may send more types of events
  }
}

/** Returns the steps whose results a start gives. The events of a snapshot have their ids instead of the results. */
function givenAtStart({ reused, seed_results }: FoldedEvent['data']): string[] {
  if (Array.isArray(reused)) return reused.map(String);
  return typeof seed_results === 'object' && seed_results !== null ? Object.keys(seed_results) : [];
}

function applyStepEvent(step: StepState, event: FoldedEvent, at: number, credits: number): void {
  const data = event.data;
  if (event.event_type !== 'step_log') step.dueAt = null;
  switch (event.event_type) {
    case 'step_started':
      startAttempt(step, event.attempt ?? step.attempts.length + 1, at);
      return;
    case 'step_completed':
      step.endedAt = at;
      step.reused &&= data.skipped === true;
      if (data.skipped === true) {
        step.status = 'skipped';
        step.skipReason = String(data.reason);
        // A step that may have happened is executed again.
        endAttempt(step, { at, outcome: 'cancelled' });
        return;
      }
      step.status = 'completed';
      step.error = null;
      endAttempt(step, { at, outcome: 'completed', credits });
      return;
    case 'step_failed':
    case 'step_retrying': {
      const error = (data.error as StepError | null | undefined) ?? { code: 'unknown', message: '' };
      const failed = event.event_type === 'step_failed';
      step.status = failed ? 'failed' : 'retrying';
      step.error = error;
      step.continues = failed && data.continues === true;
      if (failed) step.endedAt = at;
      else step.dueAt = at + (typeof data.delay_ms === 'number' ? data.delay_ms : 0);
      endAttempt(step, { at, outcome: 'failed', error, credits });
      return;
    }
    case 'step_cancelled':
      step.status = 'cancelled';
      step.skipReason = String(data.reason ?? '');
      step.endedAt = at;
      endAttempt(step, { at, outcome: 'cancelled' });
      return;
    case 'child_called':
      step.childRun = { run_id: String(data.run_id), workflow_id: String(data.workflow_id) };
      endAttempt(step, { at, outcome: 'completed' });
      return;
    case 'step_expanded':
      // The step continues with the steps that it added; it starts again when these have ended.
      endAttempt(step, { at, outcome: 'completed' });
      return;
    case 'task_pending': {
      step.status = 'waiting';
      const current = step.attempts.at(-1);
      if (current) current.outcome = 'waiting';
      step.taskName = String(data.name ?? '');
      return;
    }
    case 'step_waiting': {
      step.status = 'sleeping';
      step.dueAt = typeof data.until === 'number' ? data.until : null;
      const current = step.attempts.at(-1);
      if (current) current.outcome = 'waiting';
      return;
    }
    case 'task_completed':
      // Only a step that may have happened has a decision: it is no human task, and continues if it is repeated.
      if (data.decision === undefined) return;
      step.taskName = null;
      if (data.decision !== 'repeat') return;
      step.status = 'ready';
      endAttempt(step, { at, outcome: 'completed' });
      return;
    default:
      return;
  }
}

function startAttempt(step: StepState, attempt: number, at: number): void {
  endAttempt(step, { at, outcome: 'lost' });
  step.attempts.push({ attempt, startedAt: at, endedAt: null, outcome: 'running', error: null, credits: 0 });
  step.status = 'running';
}

type End = { at: number; outcome: AttemptState['outcome']; error?: StepError; credits?: number };

function endAttempt(step: StepState, { at, outcome, error, credits }: End): void {
  const current = step.attempts.at(-1);
  if (!current || current.endedAt !== null) return;
  current.endedAt = at;
  current.outcome = outcome;
  current.error = error ?? null;
  current.credits = credits ?? 0;
}

/** Returns the state in a snapshot. Steps of `stepIds` that it lacks are pending. */
export function stateOf(snapshot: Snapshot, stepIds: readonly string[]): RunState {
  const state = newRunState(stepIds);
  state.status = snapshot.status;
  state.lastSeq = snapshot.last_seq;
  state.stopping = snapshot.stopping;
  state.pauseReason = snapshot.pause_reason;
  state.credits = snapshot.credits_microcredits;
  state.error = snapshot.error;
  state.endedAt = timeOf(snapshot.ended_at);
  for (const { step_id, type, tool, closing, depends_on } of snapshot.added_steps.of_agents)
    stepOf(state, step_id).ofAgent = { type, tool, closing, dependsOn: depends_on };
  for (const each of [...snapshot.steps, ...snapshot.added_steps.open, ...snapshot.added_steps.of_agents]) {
    Object.assign(stepOf(state, each.step_id), fieldsOf(each));
  }
  return state;
}

function fieldsOf(each: StepOfSnapshot): Omit<StepState, 'id' | 'ofAgent'> {
  return {
    status: each.status,
    attempts: each.attempts.map(({ started_at, ended_at, credits_microcredits, ...rest }) => ({
      ...rest,
      startedAt: Date.parse(started_at),
      endedAt: timeOf(ended_at),
      credits: credits_microcredits,
    })),
    skipReason: each.skip_reason,
    error: each.error,
    continues: each.continues,
    reused: each.reused,
    dueAt: timeOf(each.due_at),
    taskName: each.task_name,
    endedAt: timeOf(each.ended_at),
    credits: each.credits_microcredits,
    childRun: each.child_run,
  };
}

/** Returns the state of a step from an answer of the API. */
export function stepStateOf(step: StepOfSnapshot): StepState {
  return { id: step.step_id, ofAgent: null, ...fieldsOf(step) };
}

const timeOf = (iso: string | null): number | null => (iso === null ? null : Date.parse(iso));
