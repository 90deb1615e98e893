import { LOST_REPEATEDLY } from './attempts.ts';
import { isUnpaid } from './ending.ts';
import type { Consumption, RunEvent } from './events.ts';
import { RUN_QUARANTINED } from './quarantine.ts';

/** An attempt that ended by itself. */
export type EndedAttempt = Extract<RunEvent, { type: 'step_completed' | 'step_failed' | 'step_retrying' }> & {
  attempt: number;
};

/**
 * Returns whether the event ends an attempt that is charged (docs/specification/billing.md#charges): one that ended by
 * itself, successfully or not. Attempts that were skipped, cancelled, lost in a crash, or never started for lack of
 * credits are free.
 */
export function endsBillableAttempt(event: RunEvent): event is EndedAttempt {
  switch (event.type) {
    case 'step_completed':
      return event.attempt !== undefined && !('skipped' in event.data);
    case 'step_failed':
      if (event.data.caused_by_step_id !== undefined) return false;
      if (event.data.error.code === RUN_QUARANTINED) return false;
      return event.data.error.code !== LOST_REPEATEDLY && !isUnpaid(event.data.error.code);
    case 'step_retrying':
      return true;
    case 'run_started':
    case 'state_changed':
    case 'stop_requested':
    case 'step_started':
    case 'step_cancelled':
    case 'step_log':
    case 'step_waiting':
    case 'task_pending':
    case 'task_completed':
    case 'step_expanded':
    case 'steps_added':
    case 'child_called':
    case 'child_ended':
      return false;
  }
}

/** Returns the usage of that attempt besides the step itself: tool calls and tokens. */
export function consumedBy({ data }: EndedAttempt): readonly Consumption[] {
  return ('consumed' in data && data.consumed) || [];
}

/** Returns the cost of that attempt, including the step itself, in microcredits. */
export function creditsOf({ data }: EndedAttempt): number {
  return ('credits' in data && data.credits) || 0;
}
