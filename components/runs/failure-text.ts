import type { RunState } from '@/server/domains/runs/run-state.ts';
import { attemptsOf } from './outcome.ts';

/** The place in a script that an error names: "script:3: no luck" is line 3. */
export type ScriptError = { line: number; text: string };

/** Returns the line of the script that an error message names, and the message without it; null where it names none. */
export function scriptError(message: string): ScriptError | null {
  const found = /^(?:\[string "script"\]|script):(\d+): (.*)$/s.exec(message);
  return found ? { line: Number(found[1]), text: found[2] ?? '' } : null;
}

type Sentence = { stepName: string; stepId: string; at: string; why: string };

/**
 * Returns the parts of the sentence that says why a run failed and where: "<step> failed <at>: <why>". Null for a run that did not fail.
 * `name` is what people call the step.
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
