import type { AppError } from '../../../platform/errors.ts';
import type { LeaderTerm, RunState } from '../../core/index.ts';
import type { LogEntry } from '../../log/index.ts';
import type { StreamItem } from '../../ports/orchestrator.ts';
import type { StepType } from '../../ports/step-type.ts';
import type { WakeUp } from '../../turn/due.ts';
import type { RunIdentity } from '../../turn/turn.ts';
import type { AttemptHost } from './live-attempt.ts';
import type { LiveRun } from './live-run.ts';
import type { Message } from './mailbox.ts';
import type { SlotKind } from './slots.ts';
import type { AheadLimits } from './steps-ahead.ts';

/** A run, and the tenant among whose runs it takes its turn; the empty string where that is not known yet. */
export type RunKey = { readonly runId: string; readonly tenantId: string };

/** The parts of the runtime that a run in memory needs. */
export type RunHost = AttemptHost & {
  /** The term of its attempts. */
  readonly leader: LeaderTerm;
  random(): number;
  /** The most that a turn decides ahead. */
  readonly ahead: AheadLimits;
  stepType(name: string): StepType | undefined;
  /**
   * Has `takeTurn` called soon, together with those of other scheduled runs; if `isUrgent`, before those of other runs of
   * the tenant.
   */
  schedule(run: LiveRun, isUrgent?: boolean): void;
  /** Returns whether steps of the workspace's runs may begin here. */
  accepts(tenantId: string): boolean;
  /** Queues the run for slots and grants the free ones. */
  claim(run: LiveRun): void;
  releaseSlot(tenantId: string, kind: SlotKind): void;
  /** Counts an attempt as a call from now on; returns false if it keeps its slot. */
  moveToCalls(tenantId: string): boolean;
  append(entry: LogEntry): Promise<void>;
  /** Has `catchUp` called soon, or cancels that. */
  progressBehind(run: LiveRun, behind: boolean): void;
  wantsStream(tenantId: string): boolean;
  publish(items: StreamItem[]): void;
  /** Sets when the run is to be woken; null = not any more. */
  setWakeUpAt(run: RunKey, wakeUp: WakeUp | null): void;
  committed(run: LiveRun, turn: { isNew: boolean; ended: boolean }): void;
  /**
   * Drops the run, because its turn was not written and its memory is no longer valid; returns
   * the error for its callers.
   */
  appendFailed(run: LiveRun, failure: { error: unknown; isNew: boolean; outcomes: AttemptRef[] }): AppError;
  /** Folds the run again to decide the messages of a refused turn once more, without steps ahead. */
  decideAgain(run: LiveRun, messages: readonly Message[]): void;
  /** A turn could not be decided or acted upon, which is a defect. The run's memory cannot be trusted any more. */
  turnDefect(run: LiveRun, error: unknown): void;
};

/**
 * The initial state of a run in memory. `quarantined`: the reason for ending it immediately; its state then has none of
 * its values. `isBehind`: its row lacks the progress of its last events.
 */
export type HeldRun = {
  identity: RunIdentity;
  state: RunState;
  isBehind: boolean;
  quarantined: string | null;
  /** Each of its next steps is committed by itself: a turn that decided several of them was refused. */
  separately?: boolean;
};

export type AttemptRef = { step: string; attempt: number };
