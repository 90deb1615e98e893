import type { Branch, CompiledGraph, CompiledStep } from './compile.ts';
import type {
  ChildCall,
  ChildStatus,
  JsonMap,
  OnTimeout,
  RunError,
  RunStartedData,
  RunStatus,
  SkipReason,
  StepError,
} from './events.ts';
import type { GraphStep } from './graph.ts';
import type { Growth } from './growth.ts';
import { agentStepType, templateStep } from './step-ids.ts';
import type { StepResult } from './stored-value.ts';

export type StepStatus =
  | 'pending' // a dependency has not ended
  | 'ready' // may begin as soon as the scheduler gives it a slot
  | 'running' // an attempt is in flight
  | 'retrying' // waits for `retryAt`
  | 'waiting' // a human task that waits for its answer
  | 'expanded' // steps that were added under it carry it out; it holds no attempt
  | 'sleeping' // waits until `until`
  | 'calling' // waits for the run that it calls
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'skipped';

/** The run that a step calls. */
export type StepCall = {
  runId: string;
  workflowId: string;
  version: number;
  /** The arguments of its start; null once the step no longer waits for it. */
  input: JsonMap | null;
  /** Whether the step does not wait for the end of the run. */
  detach: boolean;
  /** The time of the step's timeout. ms since the epoch. */
  deadline: number | null;
  /** How the run ended; null until the log records its end. */
  ended: ChildStatus | null;
  /** The source of text from outside of the workspace in its input; absent without such text. */
  outsideInput?: string;
  /** The source of private data in its input; absent without such data. */
  privateInput?: string;
  /** The agent whose model called the run, and what is left of the agent's limits. */
  agent?: ChildCall['agent'];
  /** Microcredits that it may charge. */
  budget?: number;
};

export type StepState = {
  status: StepStatus;
  /** Attempts begun so far; also the number of the current one. */
  attempt: number;
  /** Attempts that ended in an error; compared with `retry_count`. An attempt lost in a crash counts in `lost`, not here. */
  failures: number;
  /** Attempts that replaced one whose end was not recorded, in logs that do not record the term of that attempt. */
  lost: number;
  /** The terms of lost attempts, in logs that record terms. */
  lostIn?: number[];
  /** The term in which the attempt in flight began. */
  term?: number | undefined;
  /** Dependencies that have not ended. */
  open: number;
  skipReason?: SkipReason;
  /** The branch that a condition took, in this run or in the seeds of an episode. */
  branch?: Branch;
  /** The error of a step that failed with `on_error: continue`. */
  error?: StepError;
  /** A human task that got its answer. */
  answered?: true;
  /** Whether a call of an agent was approved. */
  approved?: true;
  /** The time at which the attempt to be retried failed, and the earliest time of the next one. ms since the epoch. */
  failedAt?: number;
  retryAt?: number;
  task?: { dueAt: number | null; onTimeout: OnTimeout; inDoubt?: true } | undefined;
  /** Whether an attempt was lost, so that it is unknown whether the step has happened, and no person has asked for a repetition since. */
  inDoubt?: true | undefined;
  /** The time at which a sleeping step continues. ms since the epoch. */
  until?: number;
  /** The run that it waits for, or whose output it is about to return. */
  call?: StepCall | undefined;
};

/**
 * A run in memory: the fold of its events. `evolve` changes it in place (a copy per event would make a 2,000-step run
 * quadratic), so it has exactly one owner. The sets and maps below are indexes over `steps`, kept by `evolve`, so that
 * finding the next action costs nothing.
 */
export type RunState = {
  readonly runId: string;
  readonly graph: CompiledGraph;
  /** `null` before `run_started`. */
  status: RunStatus | null;
  started: RunStartedData | null;
  input: JsonMap;
  /** Steps changed by `trigger_steps` for this run only. */
  overrides: Map<string, CompiledStep>;
  /** Episode mode: the named steps and their descendants. `null`: every step is in scope. */
  scope: Set<string> | null;
  /** Number of events folded; the next event's seq is `seq + 1`. */
  seq: number;
  /** Authored steps, and those added ones that are in memory. */
  steps: Map<string, StepState>;
  /** The steps that were added to the graph; null in a run in which no step has expanded. */
  grown: Growth | null;
  /** Results by step id; seeded ones included; skipped steps have none (they read as null). */
  results: Map<string, StepResult>;
  /** The number of results that only the log holds. */
  storedResults: number;
  /** The bytes of the results and of the run's start data, which the memory limit of the run applies to. */
  bytes: number;
  /** The memory that the state takes, approximately. */
  residentBytes: number;
  /** The number of authored steps that have ended. */
  done: number;
  /** The number of these steps that did not run: skipped ones, and those with a result from the start. */
  skipped: number;
  /** The cost of its attempts so far, in microcredits. */
  credits: number;
  /** The cost of called runs, if a budget of the run or of an agent limits it; for abandoned runs, their budgets. */
  childrenSpent: number;
  stopRequested: { by: string } | null;
  error: RunError | null;
  /** Steps that may begin, in the order in which they became ready. */
  ready: Set<string>;
  /** Steps with an attempt in flight according to the log. After a crash no executor works on them. */
  inFlight: Set<string>;
  retrying: Set<string>;
  waiting: Set<string>;
  sleeping: Set<string>;
  /** Steps that wait for the runs that they call. */
  calling: Set<string>;
  /** Ids of called runs that are to be stopped, because their steps ended without them. Null without any. */
  abandoned: Set<string> | null;
  startedAt: number | null;
  endedAt: number | null;
};

/** The step as this run sees it: with its override, if `trigger_steps` has one. Throws an Error for an unknown step. */
export function effectiveStep(state: RunState, step: string): CompiledStep {
  const found = state.overrides.get(step) ?? state.graph.steps.get(step) ?? state.grown?.steps.get(step);
  if (found === undefined) throw new Error(`Run ${state.runId} has no step "${step}".`);
  return found;
}

/**
 * Returns the fields of a step for this run, which its executor works from. For an added step that has left memory: the
 * fields of the step in its parent's graph, or its type if its parent was an agent. Throws an Error for an unknown
 * step.
 */
export function stepSpec(state: RunState, step: string): GraphStep {
  if (state.grown !== null && !state.steps.has(step)) {
    const template = templateStep(state.graph, step);
    if (template !== undefined) return template.spec;
    const type = agentStepType(step);
    if (type !== null) return { id: step, type };
  }
  return effectiveStep(state, step).spec;
}

/** Whether the step was added to the run, and is in memory. */
export function isAdded(state: RunState, step: string): boolean {
  return state.grown?.steps.has(step) === true;
}

/** Returns the state of a step that has not begun. `open`: the number of its dependencies. */
export function newStep(open: number): StepState {
  return { status: 'pending', attempt: 0, failures: 0, lost: 0, term: undefined, open };
}

/** Throws an Error for an unknown step. */
export function stepState(state: RunState, step: string): StepState {
  const found = state.steps.get(step);
  if (found === undefined) throw new Error(`Run ${state.runId} has no step "${step}".`);
  return found;
}

/** Whether a step with this status has ended. */
export function isEnded({ status }: Pick<StepState, 'status'>): boolean {
  switch (status) {
    case 'completed':
    case 'failed':
    case 'cancelled':
    case 'skipped':
      return true;
    case 'pending':
    case 'ready':
    case 'running':
    case 'retrying':
    case 'waiting':
    case 'expanded':
    case 'sleeping':
    case 'calling':
      return false;
  }
}

/** Whether `trigger_steps` names the step. */
export function isNamed(state: RunState, step: string): boolean {
  return state.started !== null && Object.hasOwn(state.started.trigger_steps, step);
}

/**
 * Returns whether the delay of a retry is over. If the clock is behind the failure, it was set back: the retry would
 * wait that long again, and the rest of the delay is unknown.
 */
export function retryIsDue({ retryAt, failedAt }: StepState, now: number): boolean {
  return retryAt !== undefined && (retryAt <= now || (failedAt !== undefined && now < failedAt));
}

/** Whether the status is terminal. */
export function isTerminal(status: RunStatus | null): boolean {
  return status === 'completed' || status === 'failed' || status === 'stopped';
}

/** Whether an attempt was begun and the step has not ended. */
export function isStarted({ status, attempt }: StepState): boolean {
  // An expanded step becomes ready a second time once all added steps have ended.
  if (status === 'ready') return attempt > 0;
  if (status === 'sleeping' || status === 'expanded' || status === 'calling') return true;
  return status === 'running' || status === 'retrying' || status === 'waiting';
}
