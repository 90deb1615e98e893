import type {
  ChildCall,
  ChildStatus,
  ExpansionPlan,
  JsonMap,
  JsonValue,
  OfAgentStep,
  Paid,
  PauseReason,
  RunStartedData,
  StepError,
  TaskRequest,
} from './events.ts';
import type { StepResult } from './stored-value.ts';

/** The grantor of slots: the leader's term, and earlier terms in which the process is known not to have died. */
export type LeaderTerm = { readonly term: number; readonly survived: ReadonlySet<number> };

/**
 * The commands of a run. The first five come from people and systems, the others from the executor, which reports the
 * outcomes of attempts. Randomness (jitter) is passed in as a value, and so is the price (`credits`, in microcredits)
 * of an attempt that the command may end.
 */
export type Command =
  | { type: 'start'; data: RunStartedData }
  | { type: 'pause'; by: string; reason?: PauseReason }
  | { type: 'resume'; by: string }
  | { type: 'stop'; mode: 'immediate' | 'graceful'; by: string }
  | { type: 'complete_task'; step: string; approved: boolean; result: JsonMap; by: string; credits?: number }
  /** The scheduler gives a ready step its slot: a first attempt, a retry that is due, or one lost in a crash. */
  | { type: 'start_attempt'; step: string; leader?: LeaderTerm }
  | ({
      type: 'attempt_succeeded';
      step: string;
      attempt: number;
      result: StepResult;
      log?: string[];
    } & OfAgentStep &
      Paid)
  | { type: 'attempt_waiting'; step: string; attempt: number; task: TaskRequest }
  /** The step goes on at `until`, in ms since the epoch. */
  | { type: 'attempt_sleeping'; step: string; attempt: number; until: number }
  /**
   * `retryable: false` ends the step even if `retry_count` allows another attempt. `random` is 0..1, for the jitter.
   */
  | ({
      type: 'attempt_failed';
      step: string;
      attempt: number;
      error: StepError;
      retryable: boolean;
      random: number;
      /** The minimum time until the next attempt (a provider's Retry-After). */
      retryAfterMs?: number;
      log?: string[];
    } & Paid)
  /** The step is to be carried out by steps that are added to the run. The price is due if it fails instead. */
  | ({
      type: 'attempt_expanding';
      step: string;
      attempt: number;
      plan: ExpansionPlan;
      items: JsonValue[];
      /** The settings, messages and tools that the steps of an agent work with. */
      agent?: JsonMap;
      log?: string[];
    } & Paid)
  /** The step calls a run and waits for it. The price is due if it fails instead. */
  | ({ type: 'attempt_calling'; step: string; attempt: number; call: ChildCall; log?: string[] } & Paid)
  /** The run of a call that does not wait for its end is in the log. */
  | { type: 'child_started'; step: string; run_id: string; credits?: number }
  /** The run that a step calls has ended, or was not started. */
  | { type: 'child_ended'; step: string; run_id: string; end: ChildEnd; random: number; credits?: number }
  /** The time of a step that waits for the run that it calls is up. */
  | { type: 'call_timed_out'; step: string; random: number; credits?: number }
  /** Lines to keep while the attempt still runs. */
  | { type: 'attempt_log'; step: string; attempt: number; lines: string[] }
  /** No executor works on this attempt any more (a crash) and, since the run is being stopped, none will. */
  | { type: 'abandon_attempt'; step: string }
  /** Several processes died while they loaded the run: end it without loading it again. */
  | { type: 'quarantine'; message: string; leader?: LeaderTerm }
  /** A human task's time is up. */
  | { type: 'task_timed_out'; step: string; credits?: number }
  /** The time of a step that has expanded is up. */
  | { type: 'expansion_timed_out'; step: string; credits?: number }
  /** The time has come that a step sleeps until. */
  | { type: 'wake'; step: string; credits?: number };

/** The end of a child run, and what it means for the step that called it. `spent`: microcredits, with those of the runs beneath it. */
export type ChildEnd = { spent?: number } & (
  | { status: 'completed' }
  | { status: Exclude<ChildStatus, 'completed'>; error: StepError; retryable: boolean }
);

/** Why a command cannot apply; surfaces answer 409. */
export class CommandRefused extends Error {
  readonly code:
    | 'run_already_ended'
    | 'run_stopping'
    | 'task_already_completed'
    | 'task_not_pending'
    | 'run_not_started'
    | 'run_already_started';
  constructor(code: CommandRefused['code'], message: string) {
    super(message);
    this.name = 'CommandRefused';
    this.code = code;
  }
}
