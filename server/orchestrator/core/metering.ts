import { INSUFFICIENT_CREDITS, LOST_REPEATEDLY } from './attempts.ts';
import type { Consumption, RunEvent } from './events.ts';
import { RUN_QUARANTINED } from './quarantine.ts';

/** An attempt that came to an end of its own. */
export type EndedAttempt = Extract<RunEvent, { type: 'step_completed' | 'step_failed' | 'step_retrying' }> & {
  attempt: number;
};

/**
 * Whether the event ends an attempt that is paid for (docs/specification/billing.md#charges): one that came to an end
 * of its own, well or not. Nothing is charged for what was skipped, cancelled, lost in a crash, or never begun for
 * want of credits.
 */
export function endsBillableAttempt(event: RunEvent): event is EndedAttempt {
  switch (event.type) {
    case 'step_completed':
      return event.attempt !== undefined && !('skipped' in event.data);
    case 'step_failed':
      if (event.data.error.code === RUN_QUARANTINED) return false;
      return event.data.error.code !== LOST_REPEATEDLY && event.data.error.code !== INSUFFICIENT_CREDITS;
    case 'step_retrying':
      return true;
    case 'run_started':
    case 'state_changed':
    case 'stop_requested':
    case 'step_started':
    case 'step_cancelled':
    case 'step_log':
    case 'task_pending':
    case 'task_completed':
      return false;
  }
}

/** What that attempt used beside the step itself: tool calls and tokens. */
export function consumedBy({ data }: EndedAttempt): readonly Consumption[] {
  return ('consumed' in data && data.consumed) || [];
}

/** What that attempt costs, with the step itself, in microcredits. */
export function creditsOf({ data }: EndedAttempt): number {
  return ('credits' in data && data.credits) || 0;
}
