import { LOST_REPEATEDLY, MAX_LOST_ATTEMPTS } from '../../core/attempts.ts';
import type { RunEvent } from '../../core/index.ts';
import type { History } from '../history.ts';
import type { SimulatedTerm, TermTable } from '../term-table.ts';
import { Violation } from './violation.ts';

/**
 * `leader`: the leader of the term in which the event was written. It learns which processes survived when the term
 * begins, and when it takes runs.
 */
type Written = { terms: TermTable; leader: SimulatedTerm | undefined };

/**
 * Checks that an interrupted step is started again, any number of times, unless its process died while it was running:
 * it fails after MAX_LOST_ATTEMPTS such deaths, and not before.
 */
export function checkLost(history: History, event: RunEvent, { terms, leader }: Written): void {
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
  const possible = lost.filter(({ term }) => term !== leader?.term && leader?.known.has(term) !== true).length;
  if (isFailure && possible < MAX_LOST_ATTEMPTS)
    throw fail(`"${event.step}" fails for ${MAX_LOST_ATTEMPTS} deaths of the process, and there were ${possible}`);
  if (!isFailure && certain >= MAX_LOST_ATTEMPTS)
    throw fail(`"${event.step}" is begun again, although the process died ${certain} times while it was running`);
}

const fail = (message: string) => new Violation('attempts', message);
