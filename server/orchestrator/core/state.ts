import type { CompiledGraph } from './compile.ts';
import type {
  JsonMap,
  JsonValue,
  OnTimeout,
  Phase,
  RunError,
  RunStartedData,
  RunStatus,
  SkipReason,
} from './events.ts';

export type StepStatus =
  | 'pending' // a dependency has not ended
  | 'ready' // may begin as soon as the scheduler gives it a slot
  | 'running' // an attempt is in flight
  | 'retrying' // waits for `retryAt`
  | 'waiting' // a human task that waits for its answer
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'skipped';

export type StepState = {
  status: StepStatus;
  /** Attempts begun so far; also the number of the current one. */
  attempt: number;
  /** Attempts that ended in an error; compared with `retry_count`. An attempt lost in a crash counts in `lost`, not here. */
  failures: number;
  /** Attempts that were begun again because no end of the one before was recorded. */
  lost: number;
  skipReason?: SkipReason;
  /** ms since the epoch. */
  retryAt?: number;
  task?: { dueAt: number | null; onTimeout: OnTimeout };
};

/**
 * A run in memory: the fold of its events. `evolve` changes it in place (a copy per event would make a 2,000-step run
 * quadratic), so whoever holds it owns it. Sets and maps below are indexes over `steps`, kept by `evolve`, so that what
 * to do next costs nothing to find.
 */
export type RunState = {
  readonly runId: string;
  readonly graph: CompiledGraph;
  /** `null` before `run_started`. */
  status: RunStatus | null;
  started: RunStartedData | null;
  input: JsonMap;
  /** Number of events folded; the next event's seq is `seq + 1`. */
  seq: number;
  steps: Map<string, StepState>;
  /** Results by step id; seeded ones included; skipped steps have none (they read as null). */
  results: Map<string, JsonValue>;
  /** Steps that have ended. */
  done: number;
  stopRequested: { by: string } | null;
  error: RunError | null;
  /** Steps that may begin, in the order in which they became ready. */
  ready: Set<string>;
  /** Steps with an attempt in flight (by the log; after a crash nobody works on them any more). */
  inFlight: Set<string>;
  retrying: Set<string>;
  waiting: Set<string>;
  startedAt: number | null;
  endedAt: number | null;
};

export type { Phase };
