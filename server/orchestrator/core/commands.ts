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

/** The leader that grants slots: its term, and the earlier terms that their process is known to have survived. */
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
  /** The scheduler gives a ready step its slot: for a first attempt, a retry that is due, or an attempt lost in a crash. */
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
  /** The step continues at `until`, in ms since the epoch. */
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
  /** Other steps, which are added to the run, carry out the step. The price is due if the step fails instead. */
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
  /** The step calls a run and waits for it. The price is due if the step fails instead. */
  | ({ type: 'attempt_calling'; step: string; attempt: number; call: ChildCall; log?: string[] } & Paid)
  /** The called run of a step that does not wait for its end is in the log. */
  | { type: 'child_started'; step: string; run_id: string; credits?: number }
  /** The run that a step calls has ended, or was not started. */
  | { type: 'child_ended'; step: string; run_id: string; end: ChildEnd; random: number; credits?: number }
  /** A step that waits for a called run has timed out. */
  | { type: 'call_timed_out'; step: string; random: number; credits?: number }
  /** Lines to keep while the attempt still runs. */
  | { type: 'attempt_log'; step: string; attempt: number; lines: string[] }
  /** After a crash, no executor works on this attempt any more; because the run is being stopped, it is not repeated. */
  | { type: 'abandon_attempt'; step: string }
  /** Several processes died while they loaded the run: end it without loading it again. */
  | { type: 'quarantine'; message: string; leader?: LeaderTerm }
  /** A human task has timed out. */
  | { type: 'task_timed_out'; step: string; credits?: number }
  /** A step that has expanded has timed out. */
  | { type: 'expansion_timed_out'; step: string; credits?: number }
  /** A sleeping step is due. */
  | { type: 'wake'; step: string; credits?: number };

/**
 * The end of a child run, and its consequence for the step that called it. `spent`: the microcredits of the run and of
 * those beneath it.
 */
export type ChildEnd = { spent?: number } & (
  | { status: 'completed' }
  | { status: Exclude<ChildStatus, 'completed'>; error: StepError; retryable: boolean }
);

/** The reason why a command cannot apply. The API surfaces answer 409. */
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
