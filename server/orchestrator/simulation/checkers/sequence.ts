import type { RunEvent } from '../../core/index.ts';
import type { History } from '../history.ts';
import { Violation } from './violation.ts';

const fail = (message: string) => new Violation('sequence', message);

/**
 * Checks that a run has one start, which comes first, and one end, which comes last, and that each transition is
 * allowed and starts at the status before it.
 */
export function checkSequence(history: History, event: RunEvent, { timeWentBack }: { timeWentBack: boolean }): void {
  if (history.isTerminal) throw fail(`${event.type} was written to a run that is ${history.status}`);
  if ((event.type === 'run_started') !== (history.status === null)) throw fail(`${event.type} while ${history.status}`);
  const last = history.events.at(-1);
  if (!timeWentBack && last !== undefined && event.at < last.at)
    throw fail(`${event.type} is older than the event before it`);
  if (event.type === 'stop_requested' && history.stopping) throw fail('stop was requested twice');
  if (event.type === 'state_changed') checkTransition(history, event.data.from, event.data.to);
}

function checkTransition(history: History, from: string, to: string): void {
  if (from !== history.status) throw fail(`a transition from ${from}, but the run is ${history.status}`);
  if (from === to) throw fail(`a transition from ${from} to itself`);
  if ((to === 'paused' || to === 'running') && history.stopping) throw fail(`${to} after a stop was requested`);
}
