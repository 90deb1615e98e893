import type { RunState } from '@/server/domains/runs/reading/run-state.ts';
import { attemptsOf } from './outcome.ts';

/** The position in a script from an error message: "script:3: no luck" is line 3. */
export type ScriptError = { line: number; text: string };

/** Returns the line number in a script's error message, and the message without the position; null if there is no position. */
export function scriptError(message: string): ScriptError | null {
  const found = /^(?:\[string "script"\]|script):(\d+): (.*)$/s.exec(message);
  return found ? { line: Number(found[1]), text: found[2] ?? '' } : null;
}

type Sentence = { stepName: string; stepId: string; at: string; why: string };

/**
 * Returns the parts of the sentence "<step> failed <at>: <why>" about a failed run; null for a run that did not fail. `name` returns
 * the display name of a step.
 */
export function failureOf(state: RunState, name: (stepId: string) => string): Sentence | null {
  const { error } = state;
  if (error === null) return null;
  const attempts = attemptsOf(state.steps.get(error.step_id)?.attempts ?? []).length;
  const script = scriptError(error.message);
  const at = [
    ...(script ? [`in line ${script.line} of its script`] : []),
    ...(attempts > 1 ? [`after ${attempts} attempts`] : []),
  ].join(', ');
  return { stepName: name(error.step_id), stepId: error.step_id, at, why: script?.text ?? error.message };
}
