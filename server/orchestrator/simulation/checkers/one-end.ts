import type { RunEvent } from '../../core/index.ts';
import type { History } from '../history.ts';
import { Violation } from './violation.ts';

const fail = (message: string) => new Violation('one-end', message);

/** Checks that a step has exactly one end and no event after it, and that no run ends before all its steps have. */
export function checkOneEnd(history: History, event: RunEvent): void {
  if ('step' in event && history.step(event.step).end !== null) {
    throw fail(`${event.type} for "${event.step}", which has ended`);
  }
  if (event.type !== 'state_changed' || event.data.to === 'running' || event.data.to === 'paused') return;
  for (const [id, step] of history.steps) {
    if (step.end === null) throw fail(`the run is ${event.data.to}, but "${id}" has no end`);
  }
}
