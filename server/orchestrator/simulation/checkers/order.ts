import type { RunEvent } from '../../core/index.ts';
import { type History, hasTask } from '../history.ts';
import { Violation } from './violation.ts';

const fail = (message: string) => new Violation('order', message);

/**
 * Checks that no step starts before its dependencies have ended, before its retry is due, or in a run that is paused or
 * stopping, and that no waiting step continues before its time or in a run that is paused or stopping.
 */
export function checkOrder(history: History, event: RunEvent): void {
  if (event.type === 'step_completed') checkWait(history, event);
  if (event.type !== 'step_started') return;
  const step = history.step(event.step);
  if (history.status !== 'running') throw fail(`"${event.step}" began while the run was ${history.status}`);
  if (history.stopping) throw fail(`"${event.step}" began while the run was being stopped`);
  for (const dependency of step.dependencies) {
    const { end } = history.step(dependency);
    if (end?.type !== 'step_completed' && !(end?.type === 'step_failed' && end.data.continues)) {
      throw fail(`"${event.step}" began, but "${dependency}" ${end === null ? 'has not ended' : `had ${end.type}`}`);
    }
  }
  // If the clock shows a time before the failure, it was set back and cannot show how much of the delay is left.
  if (step.retryAt !== null && event.at < step.retryAt && event.at >= (step.failedAt ?? 0))
    throw fail(`"${event.step}" began ${step.retryAt - event.at} ms early`);
  if (hasTask(step)) throw fail(`"${event.step}" began again while a person was being asked`);
  if (step.waitsUntil !== null) throw fail(`"${event.step}" began again while it waited`);
}

function checkWait(history: History, event: Extract<RunEvent, { type: 'step_completed' }>): void {
  const { waitsUntil } = history.step(event.step);
  if (waitsUntil === null) return;
  if (event.at < waitsUntil) throw fail(`"${event.step}" went on ${waitsUntil - event.at} ms before its time`);
  if (history.status !== 'running') throw fail(`"${event.step}" went on while the run was ${history.status}`);
  if (history.stopping) throw fail(`"${event.step}" went on while the run was being stopped`);
}
