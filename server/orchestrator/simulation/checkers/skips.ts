import type { RunEvent } from '../../core/index.ts';
import type { History } from '../history.ts';
import { expectedFate } from '../oracle.ts';
import { Violation } from './violation.ts';

const fail = (message: string) => new Violation('skips', message);

/**
 * Checks that a step is skipped exactly if the oracle skips it, and for the same reason, and that a blocked or stopped
 * step had not started.
 */
export function checkSkips(history: History, event: RunEvent): void {
  if (event.type === 'step_started') {
    const fate = expectedFate(history, event.step);
    if (fate !== 'run') throw fail(`"${event.step}" began, but is ${fate}`);
    return;
  }
  if (event.type !== 'step_completed' || !('skipped' in event.data)) return;
  const { reason } = event.data;
  if (reason === 'blocked' || reason === 'run_stopped') {
    checkCause(history, event.step, reason);
    return;
  }
  // checkInDoubt checks these skips.
  if (reason === 'not_repeated') return;
  for (const dependency of history.step(event.step).dependencies) {
    if (history.step(dependency).end === null)
      throw fail(`"${event.step}" is ${reason}, but "${dependency}" has not ended`);
  }
  const fate = expectedFate(history, event.step);
  if (fate !== reason) throw fail(`"${event.step}" is ${reason}, but should be ${fate}`);
}

function checkCause(history: History, step: string, reason: 'blocked' | 'run_stopped'): void {
  // A failure that a loop handles blocks only steps of that loop. checkGrowth checks these.
  const { added } = history.step(step);
  const hasFailed = [...history.steps.values()].some(
    other => other.end?.type === 'step_failed' && !other.end.data.continues && other.added === null,
  );
  if (reason === 'blocked' && !hasFailed && added === null) throw fail(`"${step}" is blocked, but no step has failed`);
  if (reason === 'run_stopped' && hasFailed && !history.stopping)
    throw fail(`"${step}" is stopped in a run that failed`);
}
