import type { Draft } from './draft.ts';
import { emit } from './draft.ts';
import { endStep } from './ending.ts';
import type { Decision, JsonMap, Paid } from './events.ts';
import { move } from './moves.ts';
import { skippedEnd, takenBranch } from './skips.ts';
import { effectiveStep, type RunState, type StepState } from './state.ts';

/**
 * A step is in doubt when the process ended during an attempt: it is unknown whether the step has happened. It is begun
 * again, and a type whose steps must not happen twice asks a person first, with a task that is `in_doubt`.
 */

type Answer = { approved: boolean; result: JsonMap };

/**
 * Returns the decision in the answer to such a task; older versions of the service called it `choice`. The API refuses
 * an approval without a decision, except for tasks of those versions, where it repeats the step. A rejection skips the
 * step.
 */
export function decisionOf({ approved, result }: Answer): Decision {
  if (!approved) return 'skip';
  const { decision = result.choice } = result;
  return decision === 'skip' || decision === 'result' ? decision : 'repeat';
}

/** Call this after emitting the decision: ends the step, unless it is repeated. */
export function endDecided(draft: Draft, step: string, decision: Decision, { result }: Answer, paid: Paid): void {
  const { state } = draft;
  const attempt = state.steps.get(step)?.attempt ?? 0;
  switch (decision) {
    case 'repeat':
      return;
    case 'skip':
      emit(draft, { type: 'step_completed', step, attempt, data: { skipped: true, reason: 'not_repeated' } });
      endStep(draft, step, skippedEnd(state, step, 'not_repeated'));
      return;
    case 'result': {
      const given = result.result ?? null;
      emit(draft, { type: 'step_completed', step, attempt, data: { result: given, ...paid } });
      endStep(draft, step, { status: 'completed', branch: takenBranch(effectiveStep(state, step), given) });
      return;
    }
  }
}

/** Lets the step begin again, because a person decided to repeat it. It is in doubt again only if it is lost again. */
export function repeat(state: RunState, id: string, step: StepState): void {
  step.inDoubt = undefined;
  step.task = undefined;
  move(state, id, step, 'ready');
}
