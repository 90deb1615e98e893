import { isDeepStrictEqual } from 'node:util';
import type { RunEvent } from '../../core/index.ts';
import { earlierEnd } from '../earlier-turns.ts';
import type { History } from '../history.ts';
import { Violation } from './violation.ts';

/**
 * Checks that a step that ended in the run from which this run continues has the same end here
 * (docs/specification/runs.md#reruns).
 */
export function checkEarlierTurns(history: History, event: RunEvent): void {
  if (event.type !== 'step_completed' || !('result' in event.data) || history.started === null) return;
  const end = earlierEnd(history.started, event.step);
  if (end !== null && !isDeepStrictEqual(end, { result: event.data.result }))
    throw new Violation('earlier-turns', `"${event.step}" completed, but it had ended as ${JSON.stringify(end)}`);
}
