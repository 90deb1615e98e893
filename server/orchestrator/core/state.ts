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
  /** The step does not wait for its end. */
  detach: boolean;
  /** When the time of the step is up. ms since the epoch. */
  deadline: number | null;
  /** How it ended; null as long as the log does not say so. */
  ended: ChildStatus | null;
  /** Where its input holds text from outside of the workspace; absent if it does not. */
  outsideInput?: string;
  /** Where its input holds private data; absent if it does not. */
  privateInput?: string;
  /** The agent whose model called it, and what is left of its limits. */
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
  /** Attempts that were begun again because no end of the one before was recorded, and that do not say in which term. */
  lost: number;
  /** The terms in which the others of these began. */
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
  /** The answer is that a call of an agent may be carried out. */
  approved?: true;
  /** When the attempt to be retried failed, and when the next one may begin. ms since the epoch. */
  failedAt?: number;
  retryAt?: number;
  task?: { dueAt: number | null; onTimeout: OnTimeout; inDoubt?: true } | undefined;
  /** An attempt was lost, so it is unknown whether the step has happened, and no person has since asked for a repetition. */
  inDoubt?: true | undefined;
  /** When a step that sleeps goes on. ms since the epoch. */
  until?: number;
  /** The run that it calls, or has called and is about to return the output of. */
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
  /** How many of them are in the log alone. */
  storedResults: number;
  /** The results and what the run was started with, in bytes: what its budget limits. */
  bytes: number;
  /** The memory that the state takes, approximately. */
  residentBytes: number;
  /** Authored steps that have ended. */
  done: number;
  /** Those of them that did not run: skipped ones, and those with a result that the start gave. */
  skipped: number;
  /** The cost of its attempts so far, in microcredits. */
  credits: number;
  /** The cost of runs that it called, where its budget or that of an agent limits them; of abandoned ones, their budgets. */
  childrenSpent: number;
  stopRequested: { by: string } | null;
  error: RunError | null;
  /** Steps that may begin, in the order in which they became ready. */
  ready: Set<string>;
  /** Steps with an attempt in flight by the log; after a crash they are no longer being executed. */
  inFlight: Set<string>;
  retrying: Set<string>;
  waiting: Set<string>;
  sleeping: Set<string>;
  /** Steps that wait for the runs that they call. */
  calling: Set<string>;
  /** Ids of called runs that are to be stopped: their steps ended without them. Null where there are none. */
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
 * The fields of a step for this run: what its executor works from. For an added step that has left memory, those of the
 * step of its parent's graph, or its type if its parent was an agent. Throws an Error for an unknown step.
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

/** Returns the state of a step that has not begun. `open`: how many steps come before it. */
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
 * Whether the delay of a retry is over. A clock that is behind the failure itself has been set back: it would have the
 * retry wait for as long again, and cannot tell how much of the delay is left.
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
  // A step that has expanded is ready for a second time when all that it added has ended.
  if (status === 'ready') return attempt > 0;
  if (status === 'sleeping' || status === 'expanded' || status === 'calling') return true;
  return status === 'running' || status === 'retrying' || status === 'waiting';
}
