import type { RunEvent } from '../../core/index.ts';
import { type History, hasTask, type StepHistory } from '../history.ts';
import { effectiveFields, retriesOf } from '../oracle.ts';
import { Violation } from './violation.ts';

/** The maximum duration of a timer. */
const MAX_INTERVAL_MS = 86_400_000;

const NEED_ATTEMPT: readonly RunEvent['type'][] = [
  'step_retrying',
  'step_log',
  'task_pending',
  'step_waiting',
  'step_expanded',
  'child_called',
];

const fail = (message: string) => new Violation('attempts', message);

/**
 * Checks that the numbers of attempts increase by one, that their events carry them, and that there are no more
 * attempts than allowed.
 */
export function checkAttempts(history: History, event: RunEvent): void {
  if (!('step' in event)) return;
  const step = history.step(event.step);
  switch (event.type) {
    case 'step_started':
      if (event.attempt !== step.attempt + 1)
        throw fail(`"${event.step}" began attempt ${event.attempt} after ${step.attempt}`);
      return;
    case 'step_completed':
      if ('skipped' in event.data) {
        const mayHaveBegun = event.data.reason === 'not_repeated' && event.attempt === step.attempt;
        if (!mayHaveBegun && (step.attempt > 0 || event.attempt !== undefined))
          throw fail(`"${event.step}" was skipped after it had begun`);
        return;
      }
      break;
    case 'step_retrying':
      checkRetry(history, step, event);
      break;
    case 'step_failed':
    case 'step_cancelled':
    case 'step_log':
    case 'step_waiting':
    case 'task_pending':
    case 'task_completed':
    case 'step_expanded':
    case 'child_called':
    case 'child_ended':
      break;
    case 'steps_added':
      return;
    default:
      event satisfies never;
  }
  if (event.attempt !== step.attempt)
    throw fail(`${event.type} of "${event.step}" for attempt ${event.attempt}, not ${step.attempt}`);
  checkState(event, step);
}

function checkState(event: Extract<RunEvent, { step: string }>, step: StepHistory): void {
  const begun = step.attempt > 0;
  if (!begun) throw fail(`${event.type} of "${event.step}", which has not begun`);
  const byPerson = event.type === 'task_completed';
  if (byPerson && !hasTask(step)) throw fail(`"${event.step}" was answered, but nobody was asked`);
  // The failure of a called run is not an outcome of the attempt.
  const isOfCall = event.type === 'step_retrying' && step.calledBy === step.attempt;
  const needsAttempt = NEED_ATTEMPT.includes(event.type) && !isOfCall;
  if (needsAttempt && !step.inFlight) throw fail(`${event.type} of "${event.step}" without an attempt in flight`);
  const isLate = !step.inFlight && !hasTask(step) && step.waitsUntil === null && step.called?.detach !== true;
  if (event.type === 'step_completed' && isLate) {
    throw fail(`"${event.step}" completed without an attempt in flight, an answer, a wait or a call`);
  }
}

function checkRetry(history: History, step: StepHistory, event: Extract<RunEvent, { type: 'step_retrying' }>): void {
  const most = retriesOf(effectiveFields(history, step.spec));
  if (step.retries >= most) throw fail(`"${event.step}" retries for the ${step.retries + 1}th time of ${most}`);
  const { delay_ms } = event.data;
  if (!(delay_ms >= 0 && delay_ms <= MAX_INTERVAL_MS)) throw fail(`"${event.step}" is retried in ${delay_ms} ms`);
  if (history.stopping) throw fail(`"${event.step}" retries while the run is being stopped`);
}
