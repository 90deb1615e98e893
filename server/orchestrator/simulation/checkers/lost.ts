import { LOST_REPEATEDLY, MAX_LOST_ATTEMPTS } from '../../core/attempts.ts';
import type { RunEvent } from '../../core/index.ts';
import type { History } from '../history.ts';
import type { SimulatedTerm, TermTable } from '../term-table.ts';
import { Violation } from './violation.ts';

/**
 * A step is begun again however often it was interrupted, but for those times that the process died while it was running:
 * after MAX_LOST_ATTEMPTS of these it fails, and not before.
 */
export function checkLost(history: History, event: RunEvent, terms: TermTable): void {
  if (event.type === 'step_started') {
    const { term } = event.data;
    if (term === undefined || terms.get(term) === undefined)
      throw fail(`"${event.step}" began in no term of any leader: ${term}`);
  }
  const isFailure = event.type === 'step_failed' && event.data.error.code === LOST_REPEATEDLY;
  if (event.type !== 'step_started' && !isFailure) return;
  const { inFlight, interruptedIn, term } = history.step(event.step);
  if (!inFlight || term === null) return;
  const lost = [...interruptedIn, term].flatMap(number => terms.get(number) ?? []);
  const certain = lost.filter(({ fate }) => fate === 'died').length;
  const possible = lost.filter(of => !isKnownToLive(of, terms)).length;
  if (isFailure && possible < MAX_LOST_ATTEMPTS)
    throw fail(`"${event.step}" fails for ${MAX_LOST_ATTEMPTS} deaths of the process, and there were ${possible}`);
  if (!isFailure && certain >= MAX_LOST_ATTEMPTS)
    throw fail(`"${event.step}" is begun again, although the process died ${certain} times while it was running`);
}

/** A process that ended in an orderly way has said so; one that lost the leadership says so when it leads or stands by. */
function isKnownToLive({ fate, survived, process, term }: SimulatedTerm, terms: TermTable): boolean {
  if (survived) return true;
  if (fate !== 'outlived') return false;
  return process.leftInOrder || terms.of(process).some(later => later.term > term);
}

const fail = (message: string) => new Violation('attempts', message);
