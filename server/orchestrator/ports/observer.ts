import type { RunEvent, RunState } from '../core/index.ts';
import type { OrchestratorStatus } from './orchestrator.ts';

/** The identity of a run, for observers. */
export type ObservedRun = { runId: string; tenantId: string; projectId: string; workflowId: string; version: number };

/**
 * How an attempt's work ended; `waiting`: it put a human task to people, whose wait is no longer work; `sleeping`: the
 * step goes on at a later time; `expanding`: other steps go on with it; `calling`: it waits for the run that it calls.
 */
export type AttemptEnd =
  | 'completed'
  | 'failed'
  | 'timed_out'
  | 'waiting'
  | 'sleeping'
  | 'expanding'
  | 'calling'
  | 'cancelled';

/** Why an entry was not written (AppendError). */
export type RefusedAppend = 'fenced' | 'rejected' | 'lost';

/**
 * The interface through which the orchestrator reports to observers (metrics, traces, logs), in its own terms. The
 * calls are on the hot path, some 25,000 events a second: arguments are existing objects that must be neither kept nor
 * changed, and no call may throw. Durations are in ms.
 */
export interface OrchestratorObserver {
  /** A step is about to begin, `waitedMs` after it could have: the time it waited for a slot. */
  stepStarted(type: string, waitedMs: number): void;
  /** An attempt in flight ended, `ms` after it was handed to its step type. */
  attemptEnded(type: string, end: AttemptEnd, ms: number): void;
  /** Events of one run were committed, in order; `state` is the run after them. */
  turnCommitted(run: ObservedRun, state: RunState, events: readonly RunEvent[]): void;
  /** A run that has not ended was folded from its log: from these events into `state`. */
  runLoaded(run: ObservedRun, state: RunState, events: readonly RunEvent[]): void;
  /** A run left memory: it ended, only waits, or another process executes it. */
  runReleased(runId: string): void;
  /** A batch is on disk. */
  batchCommitted(entries: number, rows: number, ms: number): void;
  /** The database refused a batch, which is halved to find the entry at fault. */
  batchBisected(): void;
  appendRefused(kind: RefusedAppend): void;
  /** This process begins to lead; `active`: runs that have not ended, by status. Earlier counts of runs are void. */
  leadershipTaken(active: ReadonlyMap<string, number>): void;
  /** Runs that have not ended, by status, which this process executes from now on, or no longer. */
  runsTaken(active: ReadonlyMap<string, number>): void;
  runsGiven(active: ReadonlyMap<string, number>): void;
  statusChanged(status: OrchestratorStatus): void;
  /** The recovery of the previous leader's runs begins, and is done. */
  recoveryBegan(): void;
  /** The number of runs whose row had an unusable wake-up time; they are folded instead. */
  timersUnusable(runs: number): void;
  recoveryEnded(recovered: number, ms: number): void;
  /** The W3C trace context of an attempt, for calls to other services; undefined if the attempt is not traced. */
  traceparent(runId: string, step: string, attempt: number): string | undefined;
}

/** An observer that ignores everything. */
export const unobserved: OrchestratorObserver = {
  stepStarted() {},
  attemptEnded() {},
  turnCommitted() {},
  runLoaded() {},
  runReleased() {},
  batchCommitted() {},
  batchBisected() {},
  appendRefused() {},
  leadershipTaken() {},
  runsTaken() {},
  runsGiven() {},
  statusChanged() {},
  recoveryBegan() {},
  timersUnusable() {},
  recoveryEnded() {},
  traceparent: () => undefined,
};

/** Returns one observer that forwards to several, in their order; a single one is returned itself. */
export function allOf(observers: readonly OrchestratorObserver[]): OrchestratorObserver {
  const [only] = observers;
  if (observers.length === 1 && only !== undefined) return only;
  return {
    stepStarted(...said) {
      for (const observer of observers) observer.stepStarted(...said);
    },
    attemptEnded(...said) {
      for (const observer of observers) observer.attemptEnded(...said);
    },
    turnCommitted(...said) {
      for (const observer of observers) observer.turnCommitted(...said);
    },
    runLoaded(...said) {
      for (const observer of observers) observer.runLoaded(...said);
    },
    runReleased(runId) {
      for (const observer of observers) observer.runReleased(runId);
    },
    batchCommitted(...said) {
      for (const observer of observers) observer.batchCommitted(...said);
    },
    batchBisected() {
      for (const observer of observers) observer.batchBisected();
    },
    appendRefused(kind) {
      for (const observer of observers) observer.appendRefused(kind);
    },
    leadershipTaken(active) {
      for (const observer of observers) observer.leadershipTaken(active);
    },
    runsTaken(active) {
      for (const observer of observers) observer.runsTaken(active);
    },
    runsGiven(active) {
      for (const observer of observers) observer.runsGiven(active);
    },
    statusChanged(status) {
      for (const observer of observers) observer.statusChanged(status);
    },
    recoveryBegan() {
      for (const observer of observers) observer.recoveryBegan();
    },
    timersUnusable(runs) {
      for (const observer of observers) observer.timersUnusable(runs);
    },
    recoveryEnded(...said) {
      for (const observer of observers) observer.recoveryEnded(...said);
    },
    traceparent(...of) {
      for (const observer of observers) {
        const traceparent = observer.traceparent(...of);
        if (traceparent !== undefined) return traceparent;
      }
      return undefined;
    },
  };
}

/** The pending work of the orchestrator at this moment, from counts that it keeps anyway. */
export type OrchestratorLoad = {
  status: OrchestratorStatus;
  runsInMemory: number;
  /** Attempts in flight. */
  slotsInUse: number;
  /** Steps that could start if there were a free slot. */
  stepsWaiting: number;
  /** Attempts in flight that wait for memory for the results that they read or produce. */
  stepsWaitingForMemory: number;
  /** The backlog of the log: rows queued or in flight. */
  backlogRows: number;
  backlogBytes: number;
  timers: number;
  /** Bytes in memory, approximately, by what they are for; docs/observability.md says more. */
  memory: { runs: number; landing_results: number; loaded_results: number; cached_results: number };
  inFlightByTenant: ReadonlyMap<string, number>;
};
