import type { History } from '../history.ts';
import { expectedFate } from '../oracle.ts';
import { Violation } from './violation.ts';

const fail = (message: string) => new Violation('not-stuck', message);

/**
 * Checks after each decision that the run has ended, is paused, or will continue because of an attempt in flight, a
 * step that may start, a retry, or a person's answer. No step is left that should have been skipped.
 */
export function checkNotStuck(history: History): void {
  if (history.isTerminal || history.status === null) return;
  if (history.allEnded) throw fail('all steps have ended, but the run has not');
  const steps = [...history.steps.values()];
  if (history.stopping) {
    if (!steps.some(step => step.inFlight || step.called !== null))
      throw fail('a stop was requested and nothing is in flight');
    return;
  }
  let canGoOn = false;
  for (const [id, step] of history.steps) {
    if (step.end !== null) continue;
    if (step.attempt > 0) canGoOn = true;
    else if (step.dependencies.every(dependency => history.step(dependency).end !== null)) {
      const fate = expectedFate(history, id);
      if (fate !== 'run') throw fail(`"${id}" is ${fate}, but was not skipped`);
      canGoOn = true;
    }
  }
  if (!canGoOn) throw fail('nothing will carry the run on');
}
