import type { RunState, StepState } from '@/server/domains/runs/reading/run-state.ts';
import { stepOutcomeLabel } from './outcome.ts';

/** The course of a step in one run; null if the run's version does not have the step. */
export type ComparedStep = { outcome: string; status: StepState['status']; durationMs: number | null } | null;
export type Comparison = { id: string; here: ComparedStep; there: ComparedStep; differs: boolean };

/**
 * Compares two runs step by step, in the order of the first run. Steps that only the second run has come last. A difference is another
 * outcome, another number of attempts, or a step that only one run has. Durations do not count, because they always differ.
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
