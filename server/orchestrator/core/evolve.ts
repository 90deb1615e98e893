import { noteAgentEvent } from './agent-expansion.ts';
import { called, ended, leaveCall } from './call-state.ts';
import { type CompiledGraph, withOverride } from './compile.ts';
import type { RunEvent, RunStartedData, StepError } from './events.ts';
import { addSteps, afterEnd, expand } from './expansion.ts';
import type { Growth } from './growth.ts';
import { repeat } from './in-doubt.ts';
import { judge, move } from './moves.ts';
import { seedOf, skippedEnd, takenBranch } from './skips.ts';
import { effectiveStep, isAdded, isTerminal, newStep, type RunState, type StepState, stepState } from './state.ts';
import {
  BYTES_PER_STEP,
  BYTES_PER_STORED_VALUE,
  resultSize,
  type StepResult,
  StoredValue,
  sizeOf,
} from './stored-value.ts';

/** A run before its first event. O(steps). */
export function newRun(runId: string, graph: CompiledGraph): RunState {
  const steps = new Map<string, StepState>();
  for (const id of graph.order) {
    const open = graph.steps.get(id)?.dependencies.length ?? 0;
    steps.set(id, newStep(open));
  }
  return {
    runId,
    graph,
    status: null,
    started: null,
    input: {},
    overrides: new Map(),
    scope: null,
    seq: 0,
    steps,
    grown: null,
    results: new Map(),
    storedResults: 0,
    bytes: 0,
    residentBytes: BYTES_PER_STEP * (graph.order.length + 8),
    done: 0,
    skipped: 0,
    credits: 0,
    childrenSpent: 0,
    stopRequested: null,
    error: null,
    ready: new Set(),
    inFlight: new Set(),
    retrying: new Set(),
    waiting: new Set(),
    sleeping: new Set(),
    calling: new Set(),
    abandoned: null,
    startedAt: null,
    endedAt: null,
  };
}

/**
 * Folds one event into the state, in place, and returns the state. Costs O(1 + dependents of the step); `run_started`
 * costs O(graph). Does not check whether the event is allowed, because `decide` has. Throws an Error for a step that
 * the graph does not have.
 */
export function evolve(state: RunState, event: RunEvent): RunState {
  state.seq += 1;
  switch (event.type) {
    case 'run_started':
      begin(state, event.data, event.at);
      break;
    case 'state_changed':
      state.status = event.data.to;
      if (event.data.error !== undefined) state.error = event.data.error;
      if (isTerminal(event.data.to)) state.endedAt = event.at;
      break;
    case 'stop_requested':
      state.stopRequested = { by: event.data.by };
      break;
    case 'step_log':
      break;
    case 'step_expanded':
      expand(state, event);
      break;
    case 'steps_added':
      addSteps(state, event);
      break;
    default:
      evolveStep(state, event);
  }
  return state;
}

type StepEvent = Exclude<
  RunEvent,
  { type: 'run_started' | 'state_changed' | 'stop_requested' | 'step_log' | 'step_expanded' | 'steps_added' }
>;

function evolveStep(state: RunState, event: StepEvent): void {
  const step = stepState(state, event.step);
  if (state.grown !== null) noteGrown(state, state.grown, event);
  switch (event.type) {
    case 'step_started':
      if (step.status === 'running') {
        if (step.term === undefined) step.lost += 1;
        else step.lostIn = [...(step.lostIn ?? []), step.term];
        step.inDoubt = true;
      }
      step.term = event.data.term;
      step.attempt = event.attempt;
      step.retryAt = undefined;
      move(state, event.step, step, 'running');
      break;
    case 'step_retrying':
      state.credits += event.data.credits ?? 0;
      step.failures += 1;
      step.failedAt = event.at;
      step.retryAt = event.at + event.data.delay_ms;
      if (step.call !== undefined) leaveCall(state, event.step, step);
      move(state, event.step, step, 'retrying');
      break;
    case 'task_pending':
      step.task = {
        dueAt: event.data.due_at,
        onTimeout: event.data.on_timeout,
        ...(event.data.in_doubt && { inDoubt: true as const }),
      };
      move(state, event.step, step, 'waiting');
      break;
    case 'step_waiting':
      step.until = event.data.until;
      move(state, event.step, step, 'sleeping');
      break;
    case 'child_called':
      called(state, event);
      break;
    case 'child_ended':
      ended(state, event);
      break;
    case 'task_completed':
      step.answered = true;
      if (event.data.approved && state.grown !== null) step.approved = true;
      if (event.data.decision === 'repeat') repeat(state, event.step, step);
      break;
    case 'step_completed':
      complete(state, event.step, step, event.data);
      break;
    case 'step_failed':
      state.credits += event.data.credits ?? 0;
      step.failures += 1;
      if (event.data.continues) {
        step.error = event.data.error;
        state.residentBytes += sizeOf(event.data.error);
      }
      end(state, event.step, step, 'failed', event.data.continues ? null : event.data.error);
      break;
    case 'step_cancelled':
      end(state, event.step, step, 'cancelled');
      break;
    default:
      event satisfies never;
  }
}

/** Records the cost of the steps under an agent, and the outcomes of its turns and calls. */
function noteGrown(state: RunState, grown: Growth, event: StepEvent): void {
  if (event.type === 'step_completed' || event.type === 'step_failed' || event.type === 'step_retrying')
    noteAgentEvent(state, grown, event);
}

/** Returns the size of the earlier turns; 0 for a run without any. */
export const sizeOfEarlier = ({ earlier_turns }: RunStartedData): number =>
  earlier_turns === undefined ? 0 : sizeOf(earlier_turns);

function begin(state: RunState, data: RunStartedData, at: number): void {
  state.status = 'running';
  state.started = data;
  state.input = data.input;
  state.startedAt = at;
  const held = sizeOf(data.input) + sizeOf(data.trigger_steps) + sizeOf(data.seed_results) + sizeOfEarlier(data);
  state.bytes += held;
  state.residentBytes += held;
  const named = Object.keys(data.trigger_steps).filter(id => state.graph.steps.has(id));
  for (const id of named) {
    const override = data.trigger_steps[id];
    if (override !== undefined) state.overrides.set(id, withOverride(effectiveStep(state, id), override));
  }
  if (data.mode === 'episode') state.scope = descendants(state.graph, named);
  for (const [id, step] of state.steps) if (step.open === 0) judge(state, id, step);
}

function descendants(graph: CompiledGraph, roots: readonly string[]): Set<string> {
  // A Set is iterated in insertion order, including elements added meanwhile, so it is its own queue.
  const found = new Set(roots);
  for (const id of found) for (const dependent of graph.steps.get(id)?.dependents ?? []) found.add(dependent);
  return found;
}

type Completed = Extract<RunEvent, { type: 'step_completed' }>['data'];

function complete(state: RunState, id: string, step: StepState, data: Completed): void {
  if ('skipped' in data) {
    const seed = seedOf(state, id, data.reason);
    if (seed !== undefined) state.results.set(id, seed);
    step.skipReason = data.reason;
    step.branch = skippedEnd(state, id, data.reason).branch;
    if (!isAdded(state, id)) state.skipped += 1;
    end(state, id, step, 'skipped');
    return;
  }
  addResult(state, id, data.result);
  state.credits += data.credits ?? 0;
  step.branch = takenBranch(effectiveStep(state, id), data.result);
  end(state, id, step, 'completed');
}

function addResult(state: RunState, id: string, result: StepResult): void {
  state.results.set(id, result);
  const bytes = resultSize(result);
  state.bytes += bytes;
  if (result instanceof StoredValue) {
    state.storedResults += 1;
    state.residentBytes += BYTES_PER_STORED_VALUE;
  } else state.residentBytes += bytes;
}

type Ended = 'completed' | 'failed' | 'cancelled' | 'skipped';

function end(state: RunState, id: string, step: StepState, status: Ended, failure: StepError | null = null): void {
  step.task = undefined;
  step.retryAt = undefined;
  if (step.call !== undefined) leaveCall(state, id, step);
  move(state, id, step, status);
  if (!isAdded(state, id)) state.done += 1;
  for (const dependent of effectiveStep(state, id).dependents) {
    const next = stepState(state, dependent);
    next.open -= 1;
    if (next.open === 0 && next.status === 'pending') judge(state, dependent, next);
  }
  if (state.grown !== null) afterEnd(state, state.grown, id, failure);
}
