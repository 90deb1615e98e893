import type { Decision, RunEvent } from '../../core/index.ts';
import type { History, StepHistory } from '../history.ts';
import { asksWhenLost } from '../in-doubt.ts';
import { Violation } from './violation.ts';

const fail = (message: string) => new Violation('in-doubt', message);

/**
 * Checks that a step whose call may have happened continues as a person decided (docs/specification/steps.md#on_lost).
 * It starts again only to ask or to be repeated, and it ends only as decided, unless its run or its parent ends.
 */
export function checkInDoubt(history: History, event: RunEvent): void {
  if (!('step' in event)) return;
  const step = history.step(event.step);
  switch (event.type) {
    case 'task_pending': {
      const expected = asksWhenLost(step.spec) && step.isInDoubt;
      if ((event.data.in_doubt === true) !== expected)
        throw fail(`"${event.step}" ${expected ? 'is in doubt, and does not say so' : 'says that it is in doubt'}`);
      return;
    }
    case 'task_completed':
      checkDecision(step, event);
      return;
    case 'step_completed':
      checkEnd(step, event);
      return;
    case 'step_started':
      if (decisionOn(step) !== undefined && decisionOn(step) !== 'repeat')
        throw fail(`"${event.step}" is begun again, but it was decided: ${decisionOn(step)}`);
      return;
    default:
      return;
  }
}

const decisionOn = ({ answer }: StepHistory): Decision | undefined => answer?.decision;

function checkDecision(step: StepHistory, { step: id, data }: Extract<RunEvent, { type: 'task_completed' }>): void {
  const { decision, approved, completed_by: by } = data;
  if ((decision !== undefined) !== asksWhenLost(step.spec)) throw fail(`"${id}" was decided: ${decision}`);
  if (decision === undefined) return;
  // The names of clients contain their decisions.
  const chosen = by?.split(': ')[1];
  if (chosen !== decision) throw fail(`"${id}" is decided as ${decision}, but "${by}" said otherwise`);
  if (approved !== (decision !== 'skip')) throw fail(`"${id}" is decided as ${decision}, and approved: ${approved}`);
}

function checkEnd(step: StepHistory, { step: id, data }: Extract<RunEvent, { type: 'step_completed' }>): void {
  const decision = decisionOn(step);
  const isSkipped = 'skipped' in data && data.reason === 'not_repeated';
  if (isSkipped !== (decision === 'skip')) throw fail(`"${id}" ends as ${JSON.stringify(data)}, decided: ${decision}`);
  if (decision !== 'result') return;
  const entered = { entered: step.answer?.completed_by };
  if (!('result' in data) || JSON.stringify(data.result) !== JSON.stringify(entered))
    throw fail(`"${id}" ends as ${JSON.stringify(data)}, not with ${JSON.stringify(entered)}`);
}
