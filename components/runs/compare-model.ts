import type { RunState, StepState } from '@/server/domains/runs/run-state.ts';
import { stepOutcomeLabel } from './outcome.ts';

/** How a step went in one run; null where the run's version does not have it. */
export type ComparedStep = { outcome: string; status: StepState['status']; durationMs: number | null } | null;
export type Comparison = { id: string; here: ComparedStep; there: ComparedStep; differs: boolean };

/**
 * Compares two runs step by step, in the order of the first, with the steps that only the second has at the end. Steps differ in their
 * outcome, their number of attempts, or where only one run has them; durations always differ and do not count.
 */
export function compareRuns(here: RunState, there: RunState): Comparison[] {
  const ids = [...here.steps.keys(), ...[...there.steps.keys()].filter(id => !here.steps.has(id))];
  return ids.map(id => {
    const [first, second] = [here.steps.get(id), there.steps.get(id)];
    const differs =
      first === undefined ||
      second === undefined ||
      stepOutcomeLabel(first) !== stepOutcomeLabel(second) ||
      first.attempts.length !== second.attempts.length;
    return { id, here: comparedStep(first), there: comparedStep(second), differs };
  });
}

function comparedStep(step: StepState | undefined): ComparedStep {
  if (step === undefined) return null;
  const started = step.attempts[0]?.startedAt;
  const durationMs = started === undefined || step.endedAt === null ? null : step.endedAt - started;
  return { outcome: stepOutcomeLabel(step), status: step.status, durationMs };
}
