import type { GraphStep } from '../core/index.ts';
import { collectReferences } from '../languages/templates.ts';
import type { Attempt } from '../ports/step-type.ts';

/** Returns the errors of failed steps as JSON by id; nothing if no step failed. */
export function errorTexts(
  steps: Iterable<string>,
  attempt: Pick<Attempt, 'errorOf'>,
): { errors?: { [step: string]: string } } {
  const errors: [string, string][] = [];
  for (const step of steps) {
    const error = attempt.errorOf?.(step);
    if (error !== undefined) errors.push([step, JSON.stringify(error)]);
  }
  // fromEntries defines keys instead of assigning them: a step may be called __proto__.
  return errors.length === 0 ? {} : { errors: Object.fromEntries(errors) };
}

/** Returns the ids of the steps to which the templates of a step refer. */
export function stepsInTemplates(step: GraphStep): Set<string> {
  const steps = new Set<string>();
  for (const found of collectReferences({ ...step } as Parameters<typeof collectReferences>[0])) {
    if ('reference' in found && found.reference.step !== null) steps.add(found.reference.step);
  }
  return steps;
}
